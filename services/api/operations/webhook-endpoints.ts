import {
  createdWebhookEndpoint,
  deletedResource,
  listedWebhookEndpoint,
  webhookEndpointBody,
} from '#shared/contracts/http/webhook-endpoint.ts'
import {
  createdEndpointExample,
  deletedEndpointExample,
  endpointCreateExample,
  listedEndpointExample,
} from '#shared/contracts/openapi/examples/webhook-endpoint.ts'
import {
  createEndpoint,
  deleteEndpoint,
  endpointFaults,
  listEndpoints,
} from '#shared/usecases/endpoints/manage-endpoints.ts'
import { recordedEndpoints } from '#shared/usecases/endpoints/recorded-endpoints.ts'
import { announcedEndpoints } from '#shared/usecases/workspaces/announced-changes.ts'
import type { ApiDeps } from '../api-deps.ts'
import { defineOperation, wholeList } from '../define-operation.ts'
import type { RequestContext } from '../route.ts'

/** The list has no pages; a plan allows 100 endpoints unless the operator raises it. */
const ENDPOINTS_MAX = 10_000

/** Webhook endpoints, in the order of the reference. */
export const webhookEndpointOperations = [
  /** Every endpoint that receives events of the key's mode, without secrets. */
  defineOperation({
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
    handle: async (deps, { workspace, mode }) =>
      wholeList(await listEndpoints(deps, { workspaceId: workspace.id, keyMode: mode })),
  }),

  /** 201 with the endpoint and, only this once, its signing secret. The audit log names the key that created it, and every owner gets a mail about a live one. */
  defineOperation({
    method: 'POST',
    path: '/webhook-endpoints',
    operationId: 'createWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Create a webhook endpoint',
    description:
      'The response contains the signing `secret`. It is shown only once: store it. A second endpoint with the same URL is created like any ' +
      'other, and `warning` names the first: each event is then sent twice.',
    scope: 'webhooks:manage',
    body: { schema: webhookEndpointBody, example: endpointCreateExample },
    success: {
      status: 201,
      description: 'The new endpoint with its signing secret.',
      resource: createdWebhookEndpoint,
      envelope: 'WebhookEndpointCreatedResponse',
      listMax: null,
      example: createdEndpointExample,
    },
    errors: ['PLAN_LIMIT_REACHED', 'INVALID_STATE'],
    bodyFaults: endpointFaults,
    handle: (deps, context) => {
      const { workspace, mode, body, ids } = context
      const input = { workspace, keyMode: mode, body, endpointId: ids.resourceId, opId: ids.opId }
      return createEndpoint(announced(deps, context, ids.opId), input)
    },
  }),

  /** 200 with the id; pending deliveries are deleted too. The audit log names the key, and every owner gets a mail about a live one. */
  defineOperation({
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    operationId: 'deleteWebhookEndpoint',
    tag: 'Webhook endpoints',
    summary: 'Delete a webhook endpoint',
    description:
      'Deletes the endpoint and its pending deliveries. A test key on an endpoint of mode `both` only ends its test events.',
    scope: 'webhooks:manage',
    success: {
      status: 200,
      description: 'The deleted endpoint.',
      resource: deletedResource,
      envelope: 'DeletedResponse',
      listMax: null,
      example: deletedEndpointExample,
    },
    handle: async (deps, context) => {
      const { workspace, mode, id } = context
      const input = { workspaceId: workspace.id, keyMode: mode, endpointId: id }
      await deleteEndpoint(announced(deps, context, deps.random.uuid()), input)
      return { id, object: 'webhook_endpoint', deleted: true }
    },
  }),
]

/** Changes of endpoints leave an audit row with the key, and a mail to owners where live. */
function announced(
  deps: ApiDeps,
  { workspace, mode, actor, from }: Pick<RequestContext, 'workspace' | 'mode' | 'actor' | 'from'>,
  opId: string,
) {
  const by = { workspaceId: workspace.id, mode, actor, opId }
  return { ...deps, endpoints: recordedEndpoints({ ...deps, operations: announcedEndpoints(deps, from) }, by) }
}
