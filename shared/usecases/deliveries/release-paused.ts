import { QUEUES } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'

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
