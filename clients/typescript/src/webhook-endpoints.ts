import { createList, type PaymeshList } from './list.ts'
import { pathId } from './path-id.ts'
import type { CallOptions, Transport, WriteOptions } from './transport.ts'
import type { Deleted, WebhookEndpoint, WebhookEndpointCreate, WebhookEndpointCreated } from './types.ts'

/** Operations on webhook endpoints. Scope `webhooks:manage`. */
export interface WebhookEndpoints {
  /** Registers an endpoint. Its `secret` is only in this response: store it, `verifyWebhook` needs it. */
  create(input: WebhookEndpointCreate, options?: WriteOptions): Promise<WebhookEndpointCreated>
  list(options?: CallOptions): PaymeshList<WebhookEndpoint>
  /** Deletes an endpoint with its pending deliveries. */
  delete(id: string, options?: CallOptions): Promise<Deleted>
}

/** The webhook endpoint operations over `transport`. */
export function createWebhookEndpoints(transport: Transport): WebhookEndpoints {
  return {
    create: async (body, options) =>
      (await transport<WebhookEndpointCreated>({ method: 'POST', path: '/webhook-endpoints', body, options })).data,
    list: (options) => createList(transport, '/webhook-endpoints', undefined, options),
    delete: async (id, options) => {
      const path = `/webhook-endpoints/${pathId(id)}`
      const gone: Deleted = { id, object: 'webhook_endpoint', deleted: true }
      return (await transport<Deleted>({ method: 'DELETE', path, gone, options })).data
    },
  }
}
