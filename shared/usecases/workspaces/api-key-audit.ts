import type { ApiKeyRecord } from '#shared/ports/api-keys.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'

/** The audit row of an action on a key. */
export function keyAudit(
  id: string,
  at: number,
  action: string,
  { id: subject, workspaceId, mode, last4, name, scopes }: ApiKeyRecord,
  { actor, reason }: OperatorAction,
): AuditRecord {
  const why = reason === null ? {} : { reason }
  const detail = { last4, name: name ?? null, scopes: scopes.join(' '), ...why }
  return { id, at, actor, action, subject, workspaceId, mode, detail }
}
