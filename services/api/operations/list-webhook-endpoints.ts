import { listedWebhookEndpoint } from '#shared/contracts/http/webhook-endpoint.ts'
import { listedEndpointExample } from '#shared/contracts/openapi/examples/webhook-endpoint.ts'
import { listEndpoints } from '#shared/usecases/endpoints/manage-endpoints.ts'
import { defineOperation, wholeList } from '../define-operation.ts'

/** The list has no pages; a plan allows 100 endpoints unless the operator raises it. */
const ENDPOINTS_MAX = 10_000

/** Every endpoint that receives events of the key's mode, without secrets. */
export const listWebhookEndpointsOperation = defineOperation({
  method: 'GET',
  path: '/webhook-endpoints',
  operationId: 'listWebhookEndpoints',
  tag: 'Webhook endpoints',
  summary: 'List webhook endpoints',
  description: "Every endpoint that receives events of the key's mode, newest first. Secrets are never returned.",
  scope: 'webhooks:manage',
  success: {
    status: 200,
    description: 'Every endpoint, on one page.',
    resource: listedWebhookEndpoint,
    envelope: 'WebhookEndpointListResponse',
    listMax: ENDPOINTS_MAX,
    example: listedEndpointExample,
  },
  errors: [],
  handle: async (deps, { workspace, mode }) =>
    wholeList(await listEndpoints(deps, { workspaceId: workspace.id, keyMode: mode })),
})
