import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/deliveries/endpoint-operations.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import type { WebhookEndpoint } from '#shared/ports/endpoints.ts'
import type { QueueName } from '#shared/ports/runtime.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after } from '#shared/runtime/process/after.ts'
import { stopwatch } from '#shared/runtime/process/stopwatch.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { deliveryId } from '#shared/usecases/outbox/delivery-id.ts'
import { judgeWebhook, verifyStandardWebhook } from '#test/support/judge-webhook.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createDispatcher, type DispatchDeliveriesDeps, type Dispatcher } from './dispatch-deliveries.ts'
import { resendDelivery } from './resend-delivery.ts'

const stores = useStores()
const secretBox = createSecretBox(randomBytes(32))
const workspaceId = randomUUID()
let receiver: WebhookReceiver
let http: WebhookHttp
let dispatchers: Dispatcher[] = []
let kicks: { queue: QueueName; id: string }[] = []

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  http = createWebhookHttp()
  kicks = []
})
afterEach(async () => {
  await http.close()
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
  dispatchers = []
  await receiver.close()
})

function ports() {
  const { db, ambient } = stores
  return {
    ...ambient,
    deliveries: createDeliveryRepository(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    mails: createMailRepository(db),
    workspaces: createWorkspaceRepository(db),
    kicker: { kick: (queue: QueueName, id: string) => void kicks.push({ queue, id }) },
    secretBox,
    http,
    after,
    stopwatch,
    allowLocalhost: true,
    maxInFlight: { normal: 64, slow: 16 },
  } satisfies DispatchDeliveriesDeps
}

function dispatcher(overrides: Partial<DispatchDeliveriesDeps> = {}): Dispatcher {
  const made = createDispatcher({ ...ports(), ...overrides })
  dispatchers.push(made)
  return made
}

/** An endpoint of the receiver with `count` pending deliveries, due now. */
async function given(count: number, overrides: Partial<WebhookEndpoint> = {}) {
  const { deliveries, endpoints, events, clock } = ports()
  const id = randomUUID()
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const now = clock.now()
  const endpoint: WebhookEndpoint = {
    id,
    workspaceId,
    url: receiver.url,
    events: ['*'],
    mode: 'test',
    description: null,
    status: 'enabled',
    sealedSecrets: [secretBox.seal(secret, endpointSecretContext(id))],
    createdAt: now,
    updatedAt: now,
    opId: null,
    ...overrides,
  }
  await endpoints.insert(endpoint)
  const invoiceId = randomUUID()
  const rows = Array.from({ length: count }, (_, index) => {
    const eventId = `evt_${invoiceId.replaceAll('-', '')}_${index}`
    const event = {
      id: eventId,
      workspaceId,
      mode: 'test' as const,
      invoiceId,
      seq: index + 1,
      type: 'invoice.created' as const,
      body: Buffer.from(
        JSON.stringify({ id: eventId, object: 'event', type: 'invoice.created', data: { object: { note: 'añ 🎉' } } }),
      ),
      createdAt: now,
    }
    const delivery = {
      id: deliveryId(eventId, id, 0),
      eventId,
      eventType: event.type,
      endpointId: id,
      workspaceId,
      mode: event.mode,
      generation: 0,
      status: 'pending' as const,
      attempt: 0,
      dueAt: now - 1,
      leaseToken: null,
      claims: 0,
      createdAt: now,
      finishedAt: null,
      lastError: null,
      lastStatusCode: null,
    }
    return { event, delivery }
  })
  await events.insertMany(rows.map((row) => row.event))
  await deliveries.insertMany(rows.map((row) => row.delivery))
  const only = rows[0]?.delivery.id ?? ''
  return { endpoint, secret, rows, only }
}

/** The store judges what is due by its own clock; the past stands for having waited. */
/** A turn of an endpoint, until its last outcome is written. */
async function turn(sender: Dispatcher, endpointId: string): Promise<void> {
  await sender.drain('normal', endpointId)
  await sender.idle()
}

/** As time does: what waits has fallen due, and the sweep counts it as overdue. */
async function makeDue(endpointId: string, agoMs = 2_000): Promise<void> {
  const rows = stores.db.collection(WEBHOOK_DELIVERIES)
  await rows.updateMany({ endpointId, status: 'pending' }, { $set: { dueAt: new Date(Date.now() - agoMs) } })
}

async function delivery(id: string) {
  const found = await ports().deliveries.findById(id)
  if (found === null) throw new Error('the delivery is gone')
  return found
}

test('a due row is sent once, signed for both kinds of verifiers, and recorded with its attempt', async () => {
  const { endpoint, secret, only, rows } = await given(1)
  receiver.answer({ kind: 'status', status: 204 })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  await turn(sender, endpoint.id)
  expect(receiver.requests).toHaveLength(1)
  const [request] = receiver.requests
  if (request === undefined) throw new Error('nothing came')
  expect(request.body).toEqual(rows[0]?.event.body)
  expect(judgeWebhook(request, secret, stores.ambient.clock.now())).toBe('valid')
  expect(verifyStandardWebhook(request, secret)).toBe(true)
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Paymesh-Webhooks/1.0',
    'x-webhook-id': only,
    'x-webhook-event': 'invoice.created',
    'webhook-id': rows[0]?.event.id,
  })
  const recorded = await delivery(only)
  expect(recorded).toMatchObject({ status: 'succeeded', attempt: 1, claims: 1, lastStatusCode: 204, lastError: null })
  expect(recorded.finishedAt).not.toBeNull()
  const attempts = await stores.db.collection(WEBHOOK_ATTEMPTS).find({ deliveryId: only }).toArray()
  expect(attempts).toMatchObject([{ number: 1, statusCode: 204, error: null, ip: '127.0.0.1' }])
})

// Guarantee: retries follow the schedule of the specification exactly, never early, and end after the ninth request.
test('each failure moves the due time by the next pause, and the ninth is the last', async () => {
  const { endpoint, only, secret } = await given(1)
  receiver.answer({ kind: 'status', status: 500, body: 'broken' })
  const sender = dispatcher()
  for (const [index, pause] of WEBHOOK_RETRY_DELAYS_MS.entries()) {
    await turn(sender, endpoint.id)
    const answeredAt = receiver.requests.at(-1)?.receivedAt ?? 0
    const row = await delivery(only)
    expect(row).toMatchObject({ status: 'pending', attempt: index + 1, lastError: 'status_500', leaseToken: null })
    expect(row.dueAt - answeredAt).toBeGreaterThanOrEqual(pause - 5)
    expect(row.dueAt - answeredAt).toBeLessThan(pause + 10_000)
    if (pause > 0) {
      await turn(sender, endpoint.id)
      expect(receiver.requests).toHaveLength(index + 1)
    }
    await makeDue(endpoint.id)
  }
  expect(kicks).toContainEqual({ queue: 'webhooks', id: endpoint.id })
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'failed', attempt: 9, lastStatusCode: 500 })
  expect((await delivery(only)).finishedAt).not.toBeNull()
  expect(receiver.requests).toHaveLength(9)
  expect(new Set(receiver.requests.map((request) => request.headers['x-webhook-id']))).toEqual(new Set([only]))
  expect(receiver.requests.every((request) => judgeWebhook(request, secret, request.receivedAt) === 'valid')).toBe(true)
})

test('500, then 200: the retry succeeds and nothing more is sent', async () => {
  const { endpoint, only } = await given(1)
  receiver.answer(() => ({ kind: 'status', status: receiver.requests.length === 1 ? 500 : 200 }))
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  await makeDue(endpoint.id)
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 2, claims: 2 })
  expect(receiver.requests).toHaveLength(2)
})

// Guarantee: a row that was written late, or by a machine whose clock is slow, waits for a sweep and no longer.
test('a row that appears under an older due time than was looked for last is sent after the next sweep', async () => {
  const { endpoint, only } = await given(1)
  receiver.answer(() => ({ kind: 'status', status: receiver.requests.length === 1 ? 500 : 200 }))
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  await makeDue(endpoint.id, 60_000)
  expect(await sender.overdue('normal')).toContain(endpoint.id)
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 2 })
})

test('a redirect is a failure and is not followed', async () => {
  const { endpoint, only } = await given(1)
  receiver.answer({ kind: 'status', status: 301, headers: { location: receiver.url } })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'pending', lastError: 'status_301' })
  expect(receiver.requests).toHaveLength(1)
})

// Guarantee: a sender that dies between sending and recording costs a duplicate with the same ids, never an attempt.
test('killed between send and outcome: sent again under the same ids, no attempt consumed', async () => {
  const { endpoint, only, rows } = await given(1)
  const killed = dispatcher({
    deliveries: { ...ports().deliveries, finish: () => new Promise(() => undefined), release: async () => undefined },
  })
  await killed.drain('normal', endpoint.id)
  await receiver.waitForCount(1)
  dispatchers = []
  expect(await delivery(only)).toMatchObject({ status: 'pending', attempt: 0, claims: 1 })
  const survivor = dispatcher()
  await turn(survivor, endpoint.id)
  expect(receiver.requests).toHaveLength(1)
  await makeDue(endpoint.id)
  await turn(survivor, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 2 })
  expect(receiver.requests.map((request) => request.headers['x-webhook-id'])).toEqual([only, only])
  expect(receiver.requests.map((request) => request.headers['webhook-id'])).toEqual(Array(2).fill(rows[0]?.event.id))
})

test('an outcome under a lost lease changes nothing', async () => {
  const { endpoint, only } = await given(1)
  receiver.answer({ kind: 'status', status: 500 })
  const zombie = dispatcher({
    deliveries: {
      ...ports().deliveries,
      finish: async (outcomes) => {
        await makeDue(endpoint.id)
        receiver.answer({ kind: 'status', status: 200 })
        await turn(other, endpoint.id)
        await ports().deliveries.finish(outcomes)
      },
    },
  })
  const other = dispatcher()
  await turn(zombie, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 1, lastStatusCode: 200 })
})

test('two processes on one endpoint send every row, each once', async () => {
  const { endpoint, rows } = await given(150)
  const senders = [dispatcher(), dispatcher()]
  const { deliveries } = ports()
  while ((await deliveries.nextDue(endpoint.id)) !== null) {
    await Promise.all(senders.map((sender) => sender.drain('normal', endpoint.id)))
    await Promise.all(senders.map((sender) => sender.idle()))
  }
  const sent = receiver.requests.map((request) => request.headers['x-webhook-id'])
  expect(new Set(sent)).toEqual(new Set(rows.map((row) => row.delivery.id)))
  expect(sent).toHaveLength(150)
})

test('a turn is bounded: after 64 sends the endpoint goes to the tail of its queue', async () => {
  const { endpoint } = await given(100)
  // A turn is bounded by time as well; on a slow machine that would come first.
  const now = stores.ambient.clock.now()
  const sender = dispatcher({ clock: { now: () => now } })
  await turn(sender, endpoint.id)
  expect(receiver.requests).toHaveLength(64)
  expect(kicks).toEqual([{ queue: 'webhooks', id: endpoint.id }])
  await turn(sender, endpoint.id)
  expect(receiver.requests).toHaveLength(100)
})

test('no more requests are in flight than the cap, and the place of one that ends wakes the endpoint', async () => {
  const { endpoint } = await given(10)
  receiver.answer({ kind: 'hang' })
  const sender = dispatcher()
  await sender.drain('normal', endpoint.id)
  expect(await receiver.waitForCount(4)).toHaveLength(4)
  expect(kicks).toEqual([])
  const claimed = await stores.db.collection(WEBHOOK_DELIVERIES).countDocuments({ endpointId: endpoint.id, claims: 1 })
  expect(claimed).toBe(4)
  expect(await sender.overdue('normal')).not.toContain(endpoint.id)
})

test('an endpoint that hangs does not hold up another, and is served apart afterwards', async () => {
  const hanging = await given(4)
  const healthy = await given(5, { url: `${receiver.url}?healthy` })
  receiver.answer((request) => (request.path.endsWith('healthy') ? { kind: 'status', status: 200 } : { kind: 'hang' }))
  const impatient: Pick<typeof http, 'post'> = {
    post: (request) => http.post(request.url.endsWith('healthy') ? request : { ...request, timeoutMs: 400 }),
  }
  const sender = dispatcher({ http: impatient })
  await sender.drain('normal', hanging.endpoint.id)
  await sender.drain('normal', healthy.endpoint.id)
  await receiver.waitFor((request) => request.path.endsWith('healthy'))
  await sender.idle()
  expect((await delivery(healthy.only)).status).toBe('succeeded')
  expect(await delivery(hanging.only)).toMatchObject({ status: 'pending', attempt: 1, lastError: 'timeout' })
  kicks = []
  await sender.drain('normal', hanging.endpoint.id)
  expect(kicks).toEqual([{ queue: 'webhooks-slow', id: hanging.endpoint.id }])
  await makeDue(hanging.endpoint.id)
  expect(await sender.overdue('normal')).not.toContain(hanging.endpoint.id)
  expect(await sender.overdue('slow')).toContain(hanging.endpoint.id)
})

test('rows of an endpoint deleted while they are claimed are purged, not sent', async () => {
  const { endpoint, rows } = await given(3)
  const { deliveries, endpoints } = ports()
  const sender = dispatcher({
    deliveries: {
      ...deliveries,
      findDue: async (wants, from) => {
        const due = await deliveries.findDue(wants, from)
        await endpoints.remove(endpoint.id)
        return due
      },
    },
  })
  await turn(sender, endpoint.id)
  expect(receiver.requests).toHaveLength(0)
  for (const { delivery: row } of rows) expect(await deliveries.findById(row.id)).toBeNull()
})

test('an endpoint turned live keeps no test deliveries', async () => {
  const { endpoint, only } = await given(1, { mode: 'live' })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  expect(receiver.requests).toHaveLength(0)
  expect(await ports().deliveries.findById(only)).toBeNull()
})

test('localhost is called for test-only endpoints alone, and only when the server allows it', async () => {
  const both = await given(1, { mode: 'both' })
  const closed = await given(1)
  const open = dispatcher()
  await open.drain('normal', both.endpoint.id)
  const strict = dispatcher({ allowLocalhost: false })
  await strict.drain('normal', closed.endpoint.id)
  await Promise.all([open.idle(), strict.idle()])
  expect(await delivery(both.only)).toMatchObject({ status: 'pending', lastError: 'bad_url' })
  expect(await delivery(closed.only)).toMatchObject({ status: 'pending', lastError: 'bad_url' })
  expect(receiver.connections()).toBe(0)
})

test('a secret that does not open is never replaced by an unsigned request', async () => {
  const { endpoint, only } = await given(1, { sealedSecrets: [secretBox.seal('whsec_AA==', 'another context')] })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  expect(receiver.requests).toHaveLength(0)
  expect(await delivery(only)).toMatchObject({ status: 'pending', attempt: 0 })
})

test('stopping gives back what is cut off, at once and without consuming an attempt', async () => {
  const { endpoint, only } = await given(1)
  receiver.answer({ kind: 'hang' })
  const own = createWebhookHttp()
  const sender = createDispatcher({ ...ports(), http: own })
  await sender.drain('normal', endpoint.id)
  await receiver.waitForCount(1)
  const stopped = sender.stop()
  await own.close()
  await stopped
  const row = await delivery(only)
  expect(row).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
  expect(row.dueAt).toBeLessThanOrEqual(stores.ambient.clock.now() + 1_000)
})

test('the sweep names what waits for more than a second and wakes for what falls due next', async () => {
  const { endpoint: late } = await given(1)
  const { endpoint: soon, only } = await given(1)
  await makeDue(late.id)
  const dueAt = new Date(stores.ambient.clock.now() + 300)
  await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: only }, { $set: { dueAt } })
  let wakeUp = (): void => undefined
  const delays: number[] = []
  const sender = dispatcher({
    after: (delayMs, run) => {
      delays.push(delayMs)
      wakeUp = run
      return () => undefined
    },
  })
  const found = await sender.overdue('normal')
  expect(found).toContain(late.id)
  expect(found).not.toContain(soon.id)
  expect(delays.some((delay) => delay > 0 && delay <= 300)).toBe(true)
  wakeUp()
  expect(kicks).toContainEqual({ queue: 'webhooks', id: soon.id })
})

test('three failed deliveries in a row mail the owner once; a success begins a new count', async () => {
  const { workspaces } = ports()
  await workspaces.insert({
    id: workspaceId,
    name: 'Shop',
    ownerEmail: 'owner@example.com',
    status: 'active',
    limits: { invoicesPerMonth: null, paymentLinks: null, webhookEndpoints: null },
    policy: {
      toleranceBps: 0,
      lateGraceMs: 0,
      lateDriftBps: 0,
      newLifeMs: 0,
      quoteMs: 0,
      spreadBps: 0,
      arsSeries: 'crypto',
      confirmations: {},
    },
    epoch: 1,
    createdAt: 0,
  })
  const { endpoint, rows } = await given(5)
  const rowsOf = stores.db.collection(WEBHOOK_DELIVERIES)
  const mails = () => stores.db.collection(MAILS).find({}).toArray()
  const sender = dispatcher()
  /** Brings one row to its last attempt, alone. */
  const finish = async (index: number, status: number) => {
    receiver.answer({ kind: 'status', status })
    const future = new Date(Date.now() + 3_600_000)
    await rowsOf.updateMany({ endpointId: endpoint.id, status: 'pending' }, { $set: { dueAt: future } })
    const id = rows[index]?.delivery.id ?? ''
    await rowsOf.updateOne({ _id: id }, { $set: { attempt: 8, dueAt: new Date(0) } })
    await turn(sender, endpoint.id)
  }
  await finish(0, 500)
  await finish(1, 500)
  expect(await mails()).toHaveLength(0)
  await finish(2, 500)
  await finish(3, 500)
  expect(await mails()).toMatchObject([
    {
      _id: `endpoint-failing:${endpoint.id}:${rows[0]?.delivery.id}`,
      template: 'endpoint_failing',
      to: 'owner@example.com',
      workspaceId,
    },
  ])
  await finish(4, 200)
  expect(await mails()).toHaveLength(1)
  expect(kicks.filter((kick) => kick.queue === 'mail')).not.toHaveLength(0)
})

const resend = (id: string) =>
  resendDelivery({ ...ports(), deeds: createEndpointDeeds(stores.db) }, { id, actor: 'cli:test' })

test('a resend is a new delivery of the same event and bytes, due at once', async () => {
  const { endpoint, only, rows } = await given(1)
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  const again = await resend(only)
  expect(again).toMatchObject({ generation: 1, eventId: rows[0]?.event.id, status: 'pending', attempt: 0 })
  expect(again.id).not.toBe(only)
  expect(kicks).toEqual([{ queue: 'webhooks', id: endpoint.id }])
  await turn(sender, endpoint.id)
  expect(receiver.requests.map((request) => request.headers['x-webhook-id'])).toEqual([only, again.id])
  expect(receiver.requests[1]?.body).toEqual(receiver.requests[0]?.body)
  expect((await delivery(only)).status).toBe('succeeded')
})

test('a resend of an unknown delivery, or to a deleted endpoint, is refused', async () => {
  const { endpoint, only } = await given(1)
  await expect(resend('whd_unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await ports().endpoints.remove(endpoint.id)
  await expect(resend(only)).rejects.toMatchObject({ code: 'INVALID_STATE' })
})
