import type { AuditedDeed, Effect, Word } from './model.ts'

/** The entry of the audit trail for a deed; none when no person is named. */
export function noted(deed: AuditedDeed, { by, reason }: Word, payment: string | null = null): readonly Effect[] {
  if (by === undefined) return []
  return [{ kind: 'audit', deed, by, ...(reason !== undefined && { reason }), payment }]
}
