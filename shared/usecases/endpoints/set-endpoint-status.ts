import type { DeliveryRepository } from '#shared/ports/deliveries.ts'
import type { EndpointDeeds } from '#shared/ports/endpoint-operations.ts'
import type { EndpointRepository, WebhookEndpoint } from '#shared/ports/endpoints.ts'
import { type Clock, type Kicker, QUEUES, type Random } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'
import { findEndpoint } from './find-endpoint.ts'

export interface SetEndpointStatusDeps {
  readonly endpoints: Pick<EndpointRepository, 'findById'>
  readonly deliveries: Pick<DeliveryRepository, 'hold' | 'unhold'>
  readonly deeds: Pick<EndpointDeeds, 'setStatus'>
  readonly kicker: Kicker
  readonly clock: Clock
  readonly random: Random
}

/**
 * Disables or enables an endpoint. A disabled one gets no new deliveries: events of that time reach it by a recovery only.
 * What already waited is held, its attempts and times kept, and goes on when the endpoint is enabled; requests on their way
 * end as they end. Repeating it changes nothing and notes nothing. Throws `NOT_FOUND`.
 */
export async function setEndpointStatus(
  deps: SetEndpointStatusDeps,
  input: {
    readonly endpointId: string
    readonly status: WebhookEndpoint['status']
    readonly actor: string
    readonly reason?: string | null
    /** The name of the operation: the same one again changes nothing. Absent = each call is one of its own. */
    readonly opId?: string
  },
): Promise<{ readonly endpoint: WebhookEndpoint; readonly changed: boolean }> {
  const { endpointId, status, actor } = input
  const found = await findEndpoint(deps.endpoints, endpointId)
  const at = deps.clock.now()
  const changed = await deps.deeds.setStatus(endpointId, status, at, {
    id: input.opId === undefined ? deps.random.uuid() : `endpoint.${status}:${endpointId}:${input.opId}`,
    at,
    actor,
    action: `endpoint.${status}`,
    subject: endpointId,
    workspaceId: found.workspaceId,
    mode: found.mode === 'both' ? null : found.mode,
    detail: { url: found.url, ...reasonOf(input) },
  })
  const stored = await findEndpoint(deps.endpoints, endpointId)
  // Also when nothing changed: an earlier run may have died before this. The dispatcher and a slow sweep do the same.
  if (stored.status === 'disabled') await deps.deliveries.hold(endpointId, null)
  else {
    await deps.deliveries.unhold(endpointId)
    deps.kicker.kick(QUEUES.webhooks, endpointId)
  }
  return { endpoint: stored, changed }
}
