import type { Attribution, AuditedAction, Effect } from './invoice-event.ts'

/** The audit entry of an action; none without a named person. */
export function auditWrite(
  action: AuditedAction,
  { by, reason }: Attribution,
  payment: string | null = null,
): readonly Effect[] {
  if (by === undefined) return []
  return [{ kind: 'audit', action, by, ...(reason !== undefined && { reason }), payment }]
}
