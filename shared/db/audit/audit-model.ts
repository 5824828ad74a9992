import { DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'

/** A stored row of the audit log. */
export type AuditDocument = Omit<AuditRecord, 'id' | 'at' | 'detail'> & {
  _id: string
  at: Date
  detail: Record<string, string | number | boolean | null>
  /** Present until the row is chained. */
  waits?: true
  /** Position in the chain, the key that signed the row, and its digest; the five fields are set once, together. */
  seq?: number
  prevHash?: string
  hash?: string
  keyId?: string
  mac?: string
}

/**
 * The audit_log collection; rows are only ever added, and chained once. The unique index on the number prevents two writers
 * from continuing the chain from the same row.
 */
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
    waits: optional(Boolean),
    seq: optional(Number),
    prevHash: optional(String),
    hash: optional(String),
    keyId: optional(String),
    mac: optional(String),
  },
  [
    { name: 'audit_subject', key: { subject: 1, at: 1 } },
    { name: 'audit_workspace', key: { workspaceId: 1, at: -1, _id: -1 } },
    { name: 'audit_workspace_actor', key: { workspaceId: 1, actor: 1, at: -1, _id: -1 } },
    { name: 'audit_actor', key: { actor: 1, at: -1, _id: -1 } },
    { name: 'audit_newest', key: { at: -1, _id: -1 } },
    { name: 'audit_chain', key: { seq: 1 }, unique: true, partialFilterExpression: { seq: { $exists: true } } },
    { name: 'audit_waiting', key: { at: 1, _id: 1 }, partialFilterExpression: { waits: true } },
    // Rows that are not chained, so that those which do not even wait for it are found without reading the others.
    { name: 'audit_unchained', key: { waits: 1, _id: 1 }, partialFilterExpression: { seq: null } },
  ],
)
