import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { requireEnabled } from '#shared/usecases/endpoints/find-endpoint.ts'
import { newDelivery } from '#shared/usecases/outbox/relay-records.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'

type ResendDeliveryDeps = Uses<'deliveries' | 'endpoints' | 'events' | 'operations' | 'notifier' | 'clock' | 'random'>

interface ResendDeliveryInput {
  readonly id: string
  readonly actor: string
  /** Id of the operation, for idempotency. */
  readonly opId?: string
  /** The operation succeeded before: nothing is created, whatever happened to the delivery since. */
  readonly isDone?: boolean
  readonly reason?: string | null
}

/**
 * Creates a new delivery of the same event, with the same event id and bytes, to the same endpoint; it is due at once and
 * has its own schedule. Two concurrent resends create one delivery, and a delivery that has not been tried yet is
 * returned instead of another. The same `opId` again returns the delivery that it created, whatever its status. Throws `NOT_FOUND` for an unknown delivery and `INVALID_STATE` when its endpoint or its event
 * (stored for half a year) no longer exists, or the endpoint is disabled.
 */
export async function resendDelivery(deps: ResendDeliveryDeps, input: ResendDeliveryInput): Promise<Delivery> {
  const original = await deps.deliveries.findById(input.id)
  if (original === null) throw new PaymeshError('NOT_FOUND', { message: `Delivery ${input.id} not found.` })
  const { eventId, endpointId } = original
  const [endpoint, events, ofEvent] = await Promise.all([
    deps.endpoints.findById(endpointId),
    deps.events.findByIds([eventId]),
    deps.deliveries.listByEvent(eventId),
  ])
  if (endpoint === null || !events.has(eventId)) {
    throw invalidState('The endpoint or the event of this delivery was deleted.')
  }
  const toEndpoint = ofEvent.filter((each) => each.endpointId === endpointId)
  const made = input.opId === undefined ? undefined : toEndpoint.find((each) => each.resendOf === input.opId)
  if (made !== undefined) return made
  const latest = toEndpoint.at(-1) ?? original
  if (input.isDone === true) return latest
  requireEnabled(endpoint)
  if (latest.generation > 0 && latest.status === 'pending' && latest.attempt === 0) {
    deps.notifier.notify(QUEUES.webhooks, endpointId)
    return latest
  }
  const requested = input.opId === undefined ? {} : { resendOf: input.opId }
  const { workspaceId, mode, eventType: type } = original
  const now = deps.clock.now()
  const event = { id: eventId, type, workspaceId, mode, createdAt: now }
  const next = newDelivery(event, endpointId, { generation: latest.generation + 1, dueAt: now })
  const delivery = { ...next, ...requested }
  await deps.operations.addDelivery(delivery, null, {
    id: `resent:${delivery.id}`,
    at: delivery.createdAt,
    actor: input.actor,
    action: 'delivery.resent',
    subject: delivery.id,
    workspaceId,
    mode,
    detail: { event: eventId, endpoint: endpointId, original: original.id, ...reasonOf(input) },
  })
  deps.notifier.notify(QUEUES.webhooks, endpointId)
  return delivery
}

export type ReleasePausedDeps = Uses<'deliveries' | 'endpoints' | 'notifier' | 'logger'>

/**
 * Releases rows paused for an endpoint that is enabled, and removes rows paused for a deleted one: a process that
 * read the endpoint just before it changed, or crashed in between, may have left such rows. Safe to repeat.
 */
export async function releasePaused(deps: ReleasePausedDeps): Promise<void> {
  const held = await deps.deliveries.heldEndpoints()
  if (held.length === 0) return
  const endpoints = await deps.endpoints.findByIds(held)
  for (const endpointId of held) {
    const endpoint = endpoints.get(endpointId)
    if (endpoint === undefined) {
      await deps.deliveries.purge(endpointId, null)
    } else if (endpoint.status === 'enabled') {
      const released = await deps.deliveries.unhold(endpointId)
      if (released > 0)
        deps.logger.info({ endpointId, released }, 'paused deliveries of an enabled webhook endpoint resumed')
      deps.notifier.notify(QUEUES.webhooks, endpointId)
    }
  }
}
