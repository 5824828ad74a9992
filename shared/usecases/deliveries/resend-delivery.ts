import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Delivery, DeliveryRepository } from '#shared/ports/deliveries.ts'
import type { EndpointDeeds } from '#shared/ports/endpoint-operations.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import type { EventRepository } from '#shared/ports/events.ts'
import { type Clock, type Kicker, QUEUES, type Random } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'
import { requireEnabled } from '#shared/usecases/endpoints/find-endpoint.ts'
import { deliveryId } from '#shared/usecases/outbox/delivery-id.ts'

export interface ResendDeliveryDeps {
  readonly deliveries: Pick<DeliveryRepository, 'findById' | 'listByEvent'>
  readonly endpoints: Pick<EndpointRepository, 'findById'>
  readonly events: Pick<EventRepository, 'findByIds'>
  readonly deeds: Pick<EndpointDeeds, 'addDelivery'>
  readonly kicker: Kicker
  readonly clock: Clock
  readonly random: Random
}

export interface ResendDeliveryInput {
  readonly id: string
  readonly actor: string
  /** The name of the wish. */
  readonly opId?: string
  /** The operation succeeded before: nothing is made, whatever became of the delivery since. */
  readonly isDone?: boolean
  readonly reason?: string | null
}

/**
 * Makes a new delivery of the same event, with the same event id and bytes, to the same endpoint; it is due at once and
 * has a schedule of its own. Two resends at the same moment make one delivery, and one that has not been tried yet is
 * given instead of another. The same `opId` sent again gives the delivery that it made, however far that has come. Throws `NOT_FOUND` for an unknown delivery and `INVALID_STATE` when its endpoint or its event
 * (kept half a year) is gone, or the endpoint is disabled.
 */
export async function resendDelivery(deps: ResendDeliveryDeps, input: ResendDeliveryInput): Promise<Delivery> {
  const original = await deps.deliveries.findById(input.id)
  if (original === null) throw new PaymeshError('NOT_FOUND', { message: `There is no delivery ${input.id}.` })
  const { eventId, endpointId } = original
  const [endpoint, events, ofEvent] = await Promise.all([
    deps.endpoints.findById(endpointId),
    deps.events.findByIds([eventId]),
    deps.deliveries.listByEvent(eventId),
  ])
  if (endpoint === null || !events.has(eventId)) {
    throw new PaymeshError('INVALID_STATE', { message: 'The endpoint or the event of this delivery is gone.' })
  }
  const toEndpoint = ofEvent.filter((each) => each.endpointId === endpointId)
  const made = input.opId === undefined ? undefined : toEndpoint.find((each) => each.resendOf === input.opId)
  if (made !== undefined) return made
  const latest = toEndpoint.at(-1) ?? original
  if (input.isDone === true) return latest
  requireEnabled(endpoint)
  if (latest.generation > 0 && latest.status === 'pending' && latest.attempt === 0) {
    deps.kicker.kick(QUEUES.webhooks, endpointId)
    return latest
  }
  const wished = input.opId === undefined ? {} : { resendOf: input.opId }
  const delivery = { ...nextDelivery(latest, deps.clock.now()), ...wished }
  const { workspaceId, mode } = original
  await deps.deeds.addDelivery(delivery, null, {
    id: `resent:${delivery.id}`,
    at: delivery.createdAt,
    actor: input.actor,
    action: 'delivery.resent',
    subject: delivery.id,
    workspaceId,
    mode,
    detail: { event: eventId, endpoint: endpointId, original: original.id, ...reasonOf(input) },
  })
  deps.kicker.kick(QUEUES.webhooks, endpointId)
  return delivery
}

function nextDelivery({ recoveryId: _recoveryId, resendOf: _resendOf, ...latest }: Delivery, now: number): Delivery {
  const generation = latest.generation + 1
  return {
    ...latest,
    id: deliveryId(latest.eventId, latest.endpointId, generation),
    generation,
    ...{ status: 'pending', attempt: 0, dueAt: now, leaseToken: null, claims: 0, createdAt: now },
    ...{ finishedAt: null, lastError: null, lastStatusCode: null },
  }
}
