import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { deleteEndpoint, type ManageEndpointsDeps } from '#shared/usecases/manage-endpoints.ts'
import { type RecordedEndpointsDeps, recordedEndpoints } from '#shared/usecases/recorded-endpoints.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `DELETE /webhook-endpoints/{id}`: 200 with what was deleted; its pending deliveries go with it, and the key that asked is in the audit trail. */
export function deleteWebhookEndpoint(
  deps: Pick<ManageEndpointsDeps, 'deliveries' | 'random'> & RecordedEndpointsDeps,
): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    const { workspace, mode, actor } = context
    const by = { workspaceId: workspace.id, mode, actor, opId: deps.random.uuid() }
    const recorded = { ...deps, endpoints: recordedEndpoints(deps, by) }
    await deleteEndpoint(recorded, { workspaceId: workspace.id, keyMode: mode, endpointId: id })
    return respond(context, 200, { id, object: 'webhook_endpoint', deleted: true })
  }
}
