import { createdWebhookEndpoint, webhookEndpointBody } from '#shared/contracts/http/webhook-endpoint.ts'
import { createdEndpointExample, endpointCreateExample } from '#shared/contracts/openapi/examples/webhook-endpoint.ts'
import { createEndpoint, endpointFaults } from '#shared/usecases/endpoints/manage-endpoints.ts'
import { recordedEndpoints } from '#shared/usecases/endpoints/recorded-endpoints.ts'
import { announcedEndpoints } from '#shared/usecases/workspaces/announced-changes.ts'
import { defineOperation } from '../define-operation.ts'

/** 201 with the endpoint and, only this once, its signing secret. The audit log names the key that created it, and every owner gets a mail about a live one. */
export const createWebhookEndpointOperation = defineOperation({
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
  handle: (deps, { workspace, mode, actor, from, body, ids }) => {
    const by = { workspaceId: workspace.id, mode, actor, opId: ids.opId }
    return createEndpoint(
      { ...deps, endpoints: recordedEndpoints({ ...deps, operations: announcedEndpoints(deps, from) }, by) },
      { workspace, keyMode: mode, body, endpointId: ids.resourceId, opId: ids.opId },
    )
  },
})
