import type { ApiKeyRecord } from '#shared/ports/api-keys.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'

/** The audit row of something done to a key. */
export function keyAudit(
  id: string,
  at: number,
  action: string,
  { id: subject, workspaceId, mode, last4, name, scopes }: ApiKeyRecord,
  { actor, reason }: Deed,
): AuditRecord {
  const why = reason === null ? {} : { reason }
  const detail = { last4, name: name ?? null, scopes: scopes.join(' '), ...why }
  return { id, at, actor, action, subject, workspaceId, mode, detail }
}
