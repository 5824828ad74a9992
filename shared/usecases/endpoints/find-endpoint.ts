import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { EndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'

/** The endpoint; throws `NOT_FOUND`. */
export async function findEndpoint(
  endpoints: Pick<EndpointRepository, 'findById'>,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await endpoints.findById(id)
  if (endpoint === null) throw new PaymeshError('NOT_FOUND', { message: `Webhook endpoint ${id} not found.` })
  return endpoint
}

/** Throws `INVALID_STATE` when the endpoint is disabled: a delivery to it would only wait. */
export function requireEnabled(endpoint: WebhookEndpoint): void {
  if (endpoint.status === 'enabled') return
  throw invalidState(`Webhook endpoint ${endpoint.id} is paused: resume it first.`)
}
