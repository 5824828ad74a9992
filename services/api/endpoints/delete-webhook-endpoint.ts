import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { deleteEndpoint, type ManageEndpointsDeps } from '#shared/usecases/manage-endpoints.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `DELETE /webhook-endpoints/{id}`: 200 with what was deleted; its pending deliveries go with it. */
export function deleteWebhookEndpoint(deps: Pick<ManageEndpointsDeps, 'endpoints' | 'deliveries'>): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    await deleteEndpoint(deps, { workspaceId: context.workspace.id, keyMode: context.mode, endpointId: id })
    return respond(context, 200, { id, object: 'webhook_endpoint', deleted: true })
  }
}
