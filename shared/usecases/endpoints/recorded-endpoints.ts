import type { EndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Who changes an endpoint, for which workspace and mode, and as part of which operation. */
export interface EndpointActor {
  readonly workspaceId: string
  readonly mode: Mode
  /** Actor as named in the audit log: `user:<address>`, `api_key:<id of the key>`. */
  readonly actor: string
  readonly reason?: string | null
  /** Id of the operation: repeating it changes nothing. */
  readonly opId: string
}

/** Dependencies of storing endpoints with their audit rows. */
export type RecordedEndpointsDeps = Uses<'endpoints' | 'operations' | 'clock'>

/** A repository whose endpoint changes are stored together with an audit row of this actor, or not at all. */
export function recordedEndpoints(deps: RecordedEndpointsDeps, by: EndpointActor): EndpointRepository {
  const { endpoints, operations } = deps
  const audit = (action: AuditAction, subject: string, detail: AuditRecord['detail'] = {}) =>
    endpointAudit(deps, by, { action, subject, detail })
  return {
    ...endpoints,
    insert: async (endpoint, most) => {
      const { id, url, events, mode } = endpoint
      const row = audit('endpoint.created', id, { url, events: events.join(','), mode })
      return (await operations.insert(endpoint, row, most)) ? 'inserted' : 'exists'
    },
    remove: (id) => operations.remove(id, audit('endpoint.deleted', id)),
    restrictToLive: (id) => operations.restrictToLive(id, audit('endpoint.restricted_to_live', id)),
  }
}

/** The audit row of an endpoint change; its id is the operation's. */
export function endpointAudit(
  { clock }: { readonly clock: Clock },
  { workspaceId, mode, actor, opId, reason = null }: EndpointActor,
  { detail, ...what }: Pick<AuditRecord, 'action' | 'subject' | 'detail'>,
): AuditRecord {
  const about = { id: `endpoint:${workspaceId}:${opId}`, at: clock.now(), actor, workspaceId, mode }
  return { ...what, ...about, detail: { ...detail, ...reasonOf({ reason }) } }
}
