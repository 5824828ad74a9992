import type { Mode } from '#shared/domain/enumerations.ts'

/** Raised in the store before the marks; see `InstallationLife`. */
export const BEAT = 'beat'
/** Present in the record of a life that began rightly: the first of an installation, or one that a restore began. */
export const BORN = 'born'
/** Time of the last record, milliseconds since 1970. */
export const WRITTEN_AT = 'written-at'
/** Highest number of a row of the audit log. */
export const AUDIT = 'audit'

/** Names of the marks of one key: nothing at or above `ceiling` was ever issued; everything below `next` may have been. */
export const ceilingOf = (materialId: string): string => `ceiling:${materialId}`
export const nextOf = (materialId: string): string => `next:${materialId}`
/** Name of the mark above which an invoice series continues. */
export const numberOf = (workspaceId: string, mode: Mode): string => `number:${workspaceId}:${mode}`
/** Name of the mark of an audit row about something that was taken back: a revoked key, a removed member. */
export const takenBackOf = (auditId: string): string => `taken-back:${auditId}`

/** What a mark is about; null for the marks of the record itself. */
export function subjectOf(
  field: string,
): { readonly kind: 'ceiling' | 'next' | 'number' | 'taken-back'; readonly id: string } | null {
  const at = field.indexOf(':')
  const kind = at < 0 ? '' : field.slice(0, at)
  if (kind !== 'ceiling' && kind !== 'next' && kind !== 'number' && kind !== 'taken-back') return null
  return { kind, id: field.slice(at + 1) }
}
