import { PaymeshError } from '#shared/contracts/errors.ts'
import { deliveryId } from './delivery-id.ts'
import type { Delivery, DeliveryRepository, EndpointRepository, EventRepository } from './ports/events.ts'
import { type Clock, type Kicker, QUEUES } from './ports/runtime.ts'

export interface ResendDeliveryDeps {
  readonly deliveries: DeliveryRepository
  readonly endpoints: EndpointRepository
  readonly events: EventRepository
  readonly kicker: Kicker
  readonly clock: Clock
}

/**
 * Makes a new delivery of the same event, with the same event id and bytes, to the same endpoint; it is due at once and
 * has a schedule of its own. Two resends at the same moment make one delivery. Throws `NOT_FOUND` for an unknown delivery
 * and `INVALID_STATE` when its endpoint or its event (kept half a year) is gone.
 */
export async function resendDelivery(deps: ResendDeliveryDeps, id: string): Promise<Delivery> {
  const original = await deps.deliveries.findById(id)
  if (original === null) throw new PaymeshError('NOT_FOUND', { internal: 'no such delivery' })
  const { eventId, endpointId } = original
  const [endpoint, events, highest] = await Promise.all([
    deps.endpoints.findById(endpointId),
    deps.events.findByIds([eventId]),
    deps.deliveries.highestGeneration(eventId, endpointId),
  ])
  if (endpoint === null || !events.has(eventId)) {
    throw new PaymeshError('INVALID_STATE', { internal: 'the endpoint or the event of the delivery is gone' })
  }
  const generation = highest + 1
  const now = deps.clock.now()
  const delivery: Delivery = {
    ...original,
    id: deliveryId(eventId, endpointId, generation),
    generation,
    status: 'pending',
    attempt: 0,
    dueAt: now,
    leaseToken: null,
    claims: 0,
    createdAt: now,
    finishedAt: null,
    lastError: null,
    lastStatusCode: null,
  }
  await deps.deliveries.insertMany([delivery])
  deps.kicker.kick(QUEUES.webhooks, endpointId)
  return delivery
}
