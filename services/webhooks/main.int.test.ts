import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ServiceContext, Stop } from '#services/context.ts'
import { NO_PACES } from '#shared/chains/catalog.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createQueueNotifier } from '#shared/queues/queue-notifier.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { deliveryId } from '#shared/usecases/outbox/relay-records.ts'
import { checkWebhook } from '#test/support/check-webhook.ts'
import { deepTest } from '#test/support/depth.ts'
import { patientRedis, toOneServer } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { start } from './main.ts'

const stores = useStores()
let receiver: WebhookReceiver
let stops: Stop[] = []

beforeEach(async () => {
  receiver = await startWebhookReceiver()
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  stops = []
  await receiver.close()
})

function context(): ServiceContext {
  const config = parseConfig({
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'test',
    PAYMESH_MASTER_KEY: MASTER_KEY.toString('base64'),
    PAYMESH_KEY_PEPPER: randomBytes(32).toString('base64'),
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
  })
  return {
    ...stores.runtime,
    config,
    db: stores.db,
    signals: createRedisSignals(stores.redis),
    markPlaces: [],
    paces: NO_PACES,
  }
}

const MASTER_KEY = randomBytes(32)

/** An endpoint with pending deliveries, as the outbox relay leaves them. */
async function given(url: string, count: number) {
  const id = randomUUID()
  const workspaceId = randomUUID()
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const now = stores.runtime.clock.now()
  await createEndpointRepository(stores.db).insert({
    id,
    workspaceId,
    url,
    events: ['*'],
    mode: 'test',
    description: null,
    status: 'enabled',
    sealedSecrets: [createSecretBox(MASTER_KEY).seal(secret, endpointSecretContext(id))],
    formerSecrets: [],
    inFlightMax: null,
    createdAt: now,
    updatedAt: now,
    opId: null,
  })
  const owned = { workspaceId, mode: 'test', createdAt: now } as const
  const invoiceId = randomUUID()
  const eventIds = Array.from({ length: count }, (_, index) => `evt_${invoiceId.replaceAll('-', '')}_${index}`)
  const type = 'invoice.paid' as const
  const bodyOf = (eventId: string) =>
    Buffer.from(JSON.stringify({ id: eventId, object: 'event', type, data: { object: {} } }))
  await createEventRepository(stores.db).insertMany(
    eventIds.map((eventId, index) => {
      return { ...owned, id: eventId, invoiceId, seq: index + 1, type, body: bodyOf(eventId) }
    }),
  )
  const pending = { status: 'pending', attempt: 0, generation: 0, claims: 0, leaseToken: null } as const
  const unknown = { finishedAt: null, lastError: null, lastStatusCode: null }
  await createDeliveryRepository(stores.db).insertMany(
    eventIds.map((eventId) => {
      const ids = { id: deliveryId(eventId, id, 0), eventId, endpointId: id }
      return { ...owned, ...pending, ...unknown, ...ids, eventType: type, dueAt: now - 5_000 }
    }),
  )
  const notifier = createQueueNotifier(stores.redis, stores.runtime)
  notifier.notify(QUEUES.webhooks, id)
  await notifier.close()
  return { endpointId: id, secret, deliveryIds: eventIds.map((eventId) => deliveryId(eventId, id, 0)) }
}

async function statuses(ids: readonly string[]): Promise<readonly (string | undefined)[]> {
  const found = await Promise.all(ids.map((id) => createDeliveryRepository(stores.db).findById(id)))
  return found.map((row) => row?.status)
}

const soon = { timeout: 25_000, interval: 50 }

test('a woken endpoint gets every event once, with a valid signature', async () => {
  stops.push(await start(context()))
  const { secret, deliveryIds } = await given(receiver.url, 70)
  await vi.waitFor(async () => expect(new Set(await statuses(deliveryIds))).toEqual(new Set(['succeeded'])), soon)
  expect(receiver.requests).toHaveLength(70)
  expect(receiver.requests.every((request) => checkWebhook(request, secret, request.receivedAt) === 'valid')).toBe(true)
})

test('a failed delivery is tried again at once, then rests', async () => {
  stops.push(await start(context()))
  receiver.answer({ kind: 'status', status: 503 })
  await given(receiver.url, 1)
  const [first, second] = await receiver.waitForCount(2)
  expect(second?.headers['x-webhook-id']).toBe(first?.headers['x-webhook-id'])
})

// Guarantee: Redis may lose everything; what is due in the store is found and sent.
test('deliveries whose wake-up is lost are found by the sweep', async () => {
  const { deliveryIds } = await given(receiver.url, 3)
  const { producer } = patientRedis(stores.redis)
  for await (const keys of toOneServer(producer).scanStream({ match: `${stores.redis.prefix}*` })) {
    if (keys.length > 0) await producer.unlink(...keys)
  }
  stops.push(await start(context()))
  await receiver.waitForCount(3)
  await vi.waitFor(async () => expect(new Set(await statuses(deliveryIds))).toEqual(new Set(['succeeded'])), soon)
})

test('a receiver that hangs does not hold up another', async () => {
  const hanging = await startWebhookReceiver()
  hanging.answer({ kind: 'hang' })
  stops.push(await start(context()))
  await given(hanging.url, 20)
  await hanging.waitForCount(4)
  const { deliveryIds } = await given(receiver.url, 30)
  await receiver.waitForCount(30)
  await vi.waitFor(async () => expect(new Set(await statuses(deliveryIds))).toEqual(new Set(['succeeded'])), soon)
  // After ten seconds these end, and others follow.
  const firstAt = hanging.requests[0]?.receivedAt ?? 0
  expect(hanging.requests.filter(({ receivedAt }) => receivedAt - firstAt < 9_000)).toHaveLength(4)
  await hanging.close()
})

deepTest('stopping cuts off a receiver that hangs and gives its rows back unconsumed', async () => {
  receiver.answer({ kind: 'hang' })
  const stop = await start(context())
  const { deliveryIds } = await given(receiver.url, 2)
  await receiver.waitForCount(2)
  await stop()
  for (const id of deliveryIds) {
    const row = await createDeliveryRepository(stores.db).findById(id)
    expect(row).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
  }
})
