import type { DeliveryRepository } from '#shared/ports/deliveries.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import { type Kicker, type Logger, QUEUES } from '#shared/ports/runtime.ts'

export interface ReleaseHeldDeps {
  readonly deliveries: Pick<DeliveryRepository, 'heldEndpoints' | 'unhold' | 'purge'>
  readonly endpoints: Pick<EndpointRepository, 'findByIds'>
  readonly kicker: Kicker
  readonly logger: Logger
}

/**
 * Lets go on what is held for an endpoint that is enabled, and removes what is held for one that is gone: a process that
 * read the endpoint just before it changed, or died in between, may have left such rows. Safe to repeat.
 */
export async function releaseHeld(deps: ReleaseHeldDeps): Promise<void> {
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
        deps.logger.info({ endpointId, released }, 'held deliveries of an enabled webhook endpoint go on')
      deps.kicker.kick(QUEUES.webhooks, endpointId)
    }
  }
}
