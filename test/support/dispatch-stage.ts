import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { QueueName } from '#shared/ports/runtime.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after, stopwatch } from '#shared/runtime/process/timers.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createDispatcher, type Dispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import type { DispatchDeliveriesDeps } from '#shared/usecases/deliveries/dispatch-process.ts'
import { deliveryId } from '#shared/usecases/outbox/relay-records.ts'
import type { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

/** A receiver, an endpoint of it and dispatchers on real stores; everything is stopped after each test. */
export function useDispatchStage(stores: ReturnType<typeof useStores>) {
  const at = { dispatchers: [], wakeUps: [] } as unknown as {
    receiver: WebhookReceiver
    http: WebhookHttp
    dispatchers: Dispatcher[]
    wakeUps: { queue: QueueName; id: string }[]
  }
  const secretBox = createSecretBox(randomBytes(32))

  const workspaceId = randomUUID()

  beforeEach(async () => {
    at.receiver = await startWebhookReceiver()
    at.http = createWebhookHttp()
    at.wakeUps = []
  })

  afterEach(async () => {
    await at.http.close()
    await Promise.all(at.dispatchers.map((dispatcher) => dispatcher.stop()))
    at.dispatchers = []
    await at.receiver.close()
  })

  function ports() {
    const { db, runtime } = stores
    return {
      ...runtime,
      deliveries: createDeliveryRepository(db),
      endpoints: createEndpointRepository(db),
      events: createEventRepository(db),
      mails: createMailRepository(db),
      workspaces: createWorkspaceRepository(db),
      notifier: { notify: (queue: QueueName, id: string) => void at.wakeUps.push({ queue, id }) },
      secretBox,
      http: at.http,
      after,
      stopwatch,
      allowLocalhost: true,
      maxInFlight: { normal: 64, slow: 16 },
      endpointInFlightMax: 64,
      processes: () => 1,
    } satisfies DispatchDeliveriesDeps
  }

  function dispatcher(overrides: Partial<DispatchDeliveriesDeps> = {}): Dispatcher {
    const made = createDispatcher({ ...ports(), ...overrides })
    at.dispatchers.push(made)
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
      url: at.receiver.url,
      events: ['*'],
      mode: 'test',
      description: null,
      status: 'enabled',
      sealedSecrets: [secretBox.seal(secret, endpointSecretContext(id))],
      formerSecrets: [],
      inFlightMax: null,
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
          JSON.stringify({
            id: eventId,
            object: 'event',
            type: 'invoice.created',
            data: { object: { note: 'añ 🎉' } },
          }),
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
        // Long enough ago for the store's clock, of which `now` is an estimate.
        dueAt: now - 5_000,
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

  return { at, secretBox, workspaceId, ports, dispatcher, given, turn, makeDue, delivery }
}
