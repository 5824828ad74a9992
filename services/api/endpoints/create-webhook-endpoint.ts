import { noQuery } from '#shared/contracts/http/list-query.ts'
import { validate, validateWith } from '#shared/contracts/http/validate.ts'
import { webhookEndpointBody } from '#shared/contracts/http/webhook-endpoint.ts'
import { createEndpoint, endpointFaults, type ManageEndpointsDeps } from '#shared/usecases/manage-endpoints.ts'
import { type RecordedEndpointsDeps, recordedEndpoints } from '#shared/usecases/recorded-endpoints.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /webhook-endpoints`: 201 with the endpoint and, this once, its signing secret; in the audit trail with the key that made it. */
export function createWebhookEndpoint(deps: ManageEndpointsDeps & RecordedEndpointsDeps): Handler {
  return async (context) => {
    validate(noQuery, context.query)
    const wish = parseJson(context.rawBody)
    const body = await validateWith(webhookEndpointBody, wish, (fields) => endpointFaults(deps, context.mode, fields))
    const { workspace, mode, actor, ids } = context
    const by = { workspaceId: workspace.id, mode, actor, opId: ids.opId }
    const endpoint = await createEndpoint(
      { ...deps, endpoints: recordedEndpoints(deps, by) },
      {
        workspace,
        keyMode: mode,
        body,
        endpointId: ids.resourceId,
        opId: ids.opId,
      },
    )
    return respond(context, 201, endpoint)
  }
}
