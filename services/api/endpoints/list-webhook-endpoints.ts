import { noQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { listEndpoints, type ManageEndpointsDeps } from '#shared/usecases/manage-endpoints.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /webhook-endpoints`: 200 with every endpoint that receives events of the key's mode, without secrets. */
export function listWebhookEndpoints(deps: Pick<ManageEndpointsDeps, 'endpoints'>): Handler {
  return async (context) => {
    validate(noQuery, context.query)
    const endpoints = await listEndpoints(deps, { workspaceId: context.workspace.id, keyMode: context.mode })
    return respondList(context, endpoints, { next_cursor: null, has_more: false })
  }
}
