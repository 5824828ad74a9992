import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'

/** The audit row of an action on a key. */
export function keyAudit(
  id: string,
  at: number,
  action: AuditAction,
  { id: subject, workspaceId, mode, last4, name, scopes }: ApiKeyRecord,
  { actor, reason = null }: { readonly actor: string; readonly reason?: string | null },
): AuditRecord {
  const detail = { last4, name: name ?? null, scopes: scopes.join(' '), ...reasonOf({ reason }) }
  return { id, at, actor, action, subject, workspaceId, mode, detail }
}
