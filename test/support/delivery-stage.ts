import { randomBytes, randomUUID } from 'node:crypto'
import { createRepositories } from '#shared/db/create-repositories.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { QueueName } from '#shared/ports/runtime.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { deliveryId } from '#shared/usecases/outbox/relay-records.ts'
import { sampleDelivery } from './db-samples.ts'
import { serviceContext } from './service-context.ts'
import type { TestStores } from './stores.ts'

/** Endpoints, events and deliveries as their makers leave them, and the use cases' ports on the stores of a test file. */
export function deliveryStage(stores: TestStores) {
  const wakeUps: { queue: QueueName; id: string }[] = []
  const context = () => serviceContext(stores, { PAYMESH_ENV: 'test', PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true' })
  const ports = () => {
    const repositories = createRepositories(stores.db, stores.runtime)
    return {
      ...stores.runtime,
      ...repositories,
      lookups: repositories.deliveryLookups,
      secretBox: createSecretBox(context().config.secrets.masterKey),
      urls: { checkoutBaseUrl: 'https://checkout.test' },
      notifier: { notify: (queue: QueueName, id: string) => void wakeUps.push({ queue, id }) },
    }
  }

  /** An enabled test endpoint that wants everything, with its secret. */
  async function endpoint(change: Partial<WebhookEndpoint> = {}) {
    const id = randomUUID()
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const now = stores.runtime.clock.now()
    const made: WebhookEndpoint = {
      ...{ id, workspaceId: randomUUID(), url: 'https://shop.test/hook', events: ['*'], mode: 'test' },
      ...{ description: null, status: 'enabled', createdAt: now, updatedAt: now, opId: null },
      sealedSecrets: [ports().secretBox.seal(secret, endpointSecretContext(id))],
      formerSecrets: [],
      inFlightMax: null,
      ...change,
    }
    await ports().endpoints.insert(made)
    return { ...made, secret }
  }

  /** Stored events of a workspace, a millisecond apart. */
  async function events(workspaceId: string, count: number, change: Partial<EventRecord> = {}): Promise<EventRecord[]> {
    const first = stores.runtime.clock.now() - 60_000 - count
    const invoiceId = randomUUID()
    const made = Array.from({ length: count }, (_, index): EventRecord => {
      const id = `evt_${invoiceId.replaceAll('-', '')}_${index.toString(36)}`
      const body = Buffer.from(JSON.stringify({ id, object: 'event' }))
      const type = 'invoice.paid'
      return { id, workspaceId, mode: 'test', invoiceId, seq: index, type, body, createdAt: first + index, ...change }
    })
    await ports().events.insertMany(made)
    return made
  }

  /** The first delivery of an event to an endpoint, due. */
  async function delivery(to: WebhookEndpoint, event: EventRecord, change: Partial<Delivery> = {}): Promise<Delivery> {
    const now = stores.runtime.clock.now()
    const made = sampleDelivery(deliveryId(event.id, to.id, change.generation ?? 0), {
      ...{ eventId: event.id, eventType: event.type, endpointId: to.id, workspaceId: to.workspaceId, mode: event.mode },
      ...{ dueAt: now - 5_000, createdAt: event.createdAt },
      ...change,
    })
    await ports().deliveries.insertMany([made])
    return made
  }
  return { wakeUps, context, ports, endpoint, events, delivery }
}
