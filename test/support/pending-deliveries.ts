import { randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '#shared/db/connection/connect.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { endpointSecretContext, type SecretBox } from '#shared/ports/secrets.ts'
import { deliveryId } from '#shared/usecases/outbox/relay-records.ts'

/** An endpoint with pending deliveries, as the outbox relay leaves them. */
export interface PendingDeliveries {
  readonly endpoint: WebhookEndpoint
  readonly secret: string
  /** Oldest due first. */
  readonly deliveryIds: readonly string[]
}

/** Registers an endpoint and makes `count` deliveries to it that fell due a minute ago, a millisecond apart. */
export async function givePending(
  db: Database,
  secretBox: SecretBox,
  count: number,
  endpointFields: Pick<WebhookEndpoint, 'url'> & Partial<WebhookEndpoint>,
): Promise<PendingDeliveries> {
  const id = randomUUID()
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const now = Date.now()
  const endpoint: WebhookEndpoint = {
    ...{ id, workspaceId: randomUUID(), events: ['*'], mode: 'test', description: null, status: 'enabled' },
    sealedSecrets: [secretBox.seal(secret, endpointSecretContext(id))],
    formerSecrets: [],
    inFlightMax: null,
    ...{ createdAt: now, updatedAt: now, opId: null },
    ...endpointFields,
  }
  await createEndpointRepository(db).insert(endpoint)
  const invoiceId = randomUUID()
  const shared = { workspaceId: endpoint.workspaceId, mode: 'test', createdAt: now } as const
  const type = 'invoice.created' as const
  const eventIds = Array.from({ length: count }, (_, index) => `evt_${invoiceId.replaceAll('-', '')}_${index}`)
  await createEventRepository(db).insertMany(
    eventIds.map((eventId, index) => {
      const body = Buffer.from(
        JSON.stringify({ id: eventId, object: 'event', type, data: { object: { note: 'ñ €' } } }),
      )
      return { ...shared, id: eventId, invoiceId, seq: index + 1, type, body }
    }),
  )
  const pending = { status: 'pending', attempt: 0, generation: 0, claims: 0, leaseToken: null } as const
  const unknown = { finishedAt: null, lastError: null, lastStatusCode: null }
  await createDeliveryRepository(db).insertMany(
    eventIds.map((eventId, index) => ({
      ...{ ...shared, ...pending, ...unknown, id: deliveryId(eventId, id, 0) },
      ...{ eventId, endpointId: id, eventType: type, dueAt: now - 60_000 + index },
    })),
  )
  return { endpoint, secret, deliveryIds: eventIds.map((eventId) => deliveryId(eventId, id, 0)) }
}
