import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { findEndpoint } from './find-endpoint.ts'

/**
 * Disables or enables an endpoint. A disabled one gets no new deliveries: events of that time reach it only by a recovery.
 * Waiting deliveries are paused with their attempts and times, and resume when the endpoint is enabled; requests in flight
 * complete. Repeating it changes nothing and writes no audit row. Throws `NOT_FOUND`.
 */
export async function setEndpointStatus(
  deps: Uses<'endpoints' | 'deliveries' | 'operations' | 'notifier' | 'clock' | 'random'>,
  input: {
    readonly endpointId: string
    readonly status: WebhookEndpoint['status']
    readonly actor: string
    readonly reason?: string | null
    /** Id of the operation: repeating it changes nothing. Absent = each call is a separate operation. */
    readonly opId?: string
  },
): Promise<{ readonly changed: boolean }> {
  const { endpointId, status, actor } = input
  const found = await findEndpoint(deps.endpoints, endpointId)
  const at = deps.clock.now()
  const changed = await deps.operations.setStatus(endpointId, status, at, {
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
  // Runs also when nothing changed: an earlier run may have crashed before this. The dispatcher and a slow sweep do the same.
  if (stored.status === 'disabled') await deps.deliveries.hold(endpointId, null)
  else {
    await deps.deliveries.unhold(endpointId)
    deps.notifier.notify(QUEUES.webhooks, endpointId)
  }
  return { changed }
}
