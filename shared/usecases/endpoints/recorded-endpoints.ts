import type { Mode } from '#shared/domain/enumerations.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { EndpointDeeds } from '#shared/ports/endpoint-operations.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'

/** Who changes an endpoint, in the name of which workspace and mode, and under which operation. */
export interface EndpointActor {
  readonly workspaceId: string
  readonly mode: Mode
  /** As the audit trail names them: `user:<address>`, `api_key:<id of the key>`. */
  readonly actor: string
  readonly reason?: string | null
  /** The name of the operation: the same one again is done once. */
  readonly opId: string
}

/** What storing endpoints with their audit rows needs. */
export interface RecordedEndpointsDeps {
  readonly endpoints: EndpointRepository
  readonly deeds: Pick<EndpointDeeds, 'insert' | 'remove' | 'restrictToLive'>
  readonly clock: Clock
}

/** The repository of endpoints whose changes are stored together with the audit row of this actor, or not at all. */
export function recordedEndpoints(deps: RecordedEndpointsDeps, by: EndpointActor): EndpointRepository {
  const { endpoints, deeds } = deps
  const audit = (action: string, subject: string, detail: AuditRecord['detail'] = {}) =>
    endpointAudit(deps, by, { action, subject, detail })
  return {
    ...endpoints,
    insert: async (endpoint) => {
      const { id, url, events, mode } = endpoint
      const row = audit('endpoint.created', id, { url, events: events.join(','), mode })
      return (await deeds.insert(endpoint, row)) ? 'inserted' : 'exists'
    },
    remove: (id) => deeds.remove(id, audit('endpoint.deleted', id)),
    restrictToLive: (id) => deeds.restrictToLive(id, audit('endpoint.restricted_to_live', id)),
  }
}

/** The audit row of a change of an endpoint; its id is the operation's. */
export function endpointAudit(
  { clock }: { readonly clock: Clock },
  { workspaceId, mode, actor, opId, reason = null }: EndpointActor,
  { detail, ...what }: Pick<AuditRecord, 'action' | 'subject' | 'detail'>,
): AuditRecord {
  const about = { id: `endpoint:${workspaceId}:${opId}`, at: clock.now(), actor, workspaceId, mode }
  return { ...what, ...about, detail: { ...detail, ...reasonOf({ reason }) } }
}
