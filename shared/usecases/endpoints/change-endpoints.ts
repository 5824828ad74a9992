import { PaymeshError } from '#shared/contracts/errors.ts'
import type { WebhookEndpointBody } from '#shared/contracts/http/webhook-endpoint.ts'
import type { EndpointChange } from '#shared/db/endpoints/endpoint-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { changedFirst } from '#shared/usecases/audit/changed-first.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { createEndpoint, deleteEndpoint, type ManageEndpointsDeps } from './manage-endpoints.ts'
import { type EndpointActor, endpointAudit, recordedEndpoints } from './recorded-endpoints.ts'

export type ChangeEndpointsDeps = ManageEndpointsDeps & Uses<'operations' | 'audits'>

/** An action on endpoints of a workspace and mode. */
export interface EndpointRequest extends OperatorAction {
  readonly workspace: Workspace
  readonly mode: Mode
}

/**
 * Registers an endpoint as the public API does, audited in the same write, and returns it with its signing secret. Repeating the
 * request returns the endpoint that it created. Throws `VALIDATION_ERROR` (mode or URL) and `PLAN_LIMIT_REACHED`.
 */
export async function addEndpoint(
  deps: ChangeEndpointsDeps,
  request: EndpointRequest & { readonly body: WebhookEndpointBody },
): Promise<{ readonly endpointId: string; readonly secret: string }> {
  const { workspace, mode, body } = request
  const opId = `dashboard:${request.opId}`
  const made = async () => (await deps.endpoints.list(workspace.id, null)).find((endpoint) => endpoint.opId === opId)
  const endpointId = (await made())?.id ?? deps.random.uuid()
  const noting = { ...deps, endpoints: recordedEndpoints(deps, actorOf(request)) }
  const resource = await createEndpoint(noting, { workspace, keyMode: mode, body, endpointId, opId }).catch(
    async (error: unknown) => {
      // A concurrent duplicate of the request was faster.
      const other = await made()
      if (other === undefined || other.id === endpointId) throw error
      return await createEndpoint(noting, { workspace, keyMode: mode, body, endpointId: other.id, opId })
    },
  )
  if (resource.secret === undefined) throw new Error(`endpoint ${resource.id} was made without a secret`)
  return { endpointId: resource.id, secret: resource.secret }
}

/**
 * Changes an endpoint's subscriptions, note and own limit of requests in flight, if it was last changed at `version`. Throws `NOT_FOUND`, and
 * `INVALID_STATE` that names who changed it first.
 */
export async function updateEndpoint(
  deps: ChangeEndpointsDeps,
  request: EndpointRequest & {
    readonly endpointId: string
    readonly version: number
    readonly change: EndpointChange
  },
): Promise<void> {
  const { endpointId, version, change } = request
  const { description, inFlightMax } = change
  const detail = { events: change.events.join(','), description, inFlightMax }
  const audit = endpointAudit(deps, actorOf(request), { action: 'endpoint.updated', subject: endpointId, detail })
  // Always greater than the previous version, even if the clock went back.
  const at = Math.max(deps.clock.now(), version + 1)
  if (await deps.operations.update(endpointId, version, change, at, audit)) return
  if (await deps.audits.isRecorded(audit.id, endpointId)) return
  if ((await deps.endpoints.findById(endpointId)) === null) throw new PaymeshError('NOT_FOUND')
  throw await changedFirst(deps, { subject: endpointId, thing: 'this endpoint' })
}

/** Deletes an endpoint and its waiting deliveries, as the public API does, audited in the same write. Throws `NOT_FOUND`. */
export async function removeEndpoint(
  deps: ChangeEndpointsDeps,
  request: EndpointRequest & { readonly endpointId: string },
): Promise<void> {
  const { workspace, mode, endpointId } = request
  const endpoints = recordedEndpoints(deps, actorOf(request))
  try {
    await deleteEndpoint({ ...deps, endpoints }, { workspaceId: workspace.id, keyMode: mode, endpointId })
  } catch (error) {
    const { id } = endpointAudit(deps, actorOf(request), {
      action: 'endpoint.deleted',
      subject: endpointId,
      detail: {},
    })
    if (!(await deps.audits.isRecorded(id, endpointId))) throw error
  }
}

function actorOf({ workspace, mode, actor, reason = null, opId }: EndpointRequest): EndpointActor {
  return { workspaceId: workspace.id, mode, actor, reason, opId }
}
