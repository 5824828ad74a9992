import type { AuditRecord } from '#shared/usecases/ports/audit.ts'
import { DATE, defineCollection, optional, TEXT } from './collection-model.ts'

/** A stored row of the audit trail. */
export type AuditDocument = Omit<AuditRecord, 'id' | 'at' | 'detail'> & {
  _id: string
  at: Date
  detail: Record<string, string | number | boolean | null>
}

/** The audit_log collection; rows are only ever added. */
export const AUDIT_LOG = defineCollection<AuditDocument>(
  'audit_log',
  {
    _id: TEXT,
    at: DATE,
    actor: TEXT,
    action: TEXT,
    subject: TEXT,
    workspaceId: optional(String),
    mode: optional(String),
    detail: { type: Object, required: true },
  },
  [{ name: 'audit_subject', key: { subject: 1, at: 1 } }],
)
