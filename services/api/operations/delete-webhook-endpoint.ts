import { deletedResource } from '#shared/contracts/http/webhook-endpoint.ts'
import { deletedEndpointExample } from '#shared/contracts/openapi/examples/webhook-endpoint.ts'
import { deleteEndpoint } from '#shared/usecases/endpoints/manage-endpoints.ts'
import { recordedEndpoints } from '#shared/usecases/endpoints/recorded-endpoints.ts'
import { announcedEndpoints } from '#shared/usecases/workspaces/announced-changes.ts'
import { defineOperation } from '../define-operation.ts'

/** 200 with the id; pending deliveries are deleted too. The audit log names the key, and every owner gets a mail about a live one. */
export const deleteWebhookEndpointOperation = defineOperation({
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
  errors: [],
  handle: async (deps, { workspace, mode, actor, from, id }) => {
    const by = { workspaceId: workspace.id, mode, actor, opId: deps.random.uuid() }
    const recorded = {
      ...deps,
      endpoints: recordedEndpoints({ ...deps, operations: announcedEndpoints(deps, from) }, by),
    }
    await deleteEndpoint(recorded, { workspaceId: workspace.id, keyMode: mode, endpointId: id })
    return { id, object: 'webhook_endpoint', deleted: true }
  },
})
