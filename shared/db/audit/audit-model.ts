import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { MODES } from '#shared/domain/enumerations.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'

/**
 * The audit_log collection; rows are only ever added, and chained once. The unique index on the number prevents two writers
 * from continuing the chain from the same row.
 */
export const AUDIT_LOG = defineCollection(
  'audit_log',
  {
    /** Deterministic if the action can be repeated, so that it is recorded once. */
    _id: z.string(),
    at: TIME,
    /** The actor: `cli:<operating-system user>`. */
    actor: z.string(),
    action: textAs<AuditAction>(),
    /** The object: a resource's id, or `<mode>:<network>` for a chain. */
    subject: z.string(),
    workspaceId: z.string().nullable(),
    mode: z.enum(MODES).nullable(),
    /** Parameters and outcome, by name. */
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()),
    /** Present until the row is chained. */
    waits: z.literal(true).exactOptional(),
    /** Position in the chain, the key that signed the row, and its digest; the five fields are set once, together. */
    seq: z.number().exactOptional(),
    prevHash: z.string().exactOptional(),
    hash: z.string().exactOptional(),
    keyId: z.string().exactOptional(),
    mac: z.string().exactOptional(),
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
  { hidden: ['waits', 'seq', 'prevHash', 'hash', 'keyId', 'mac'] },
)

/** A stored row of the audit log. */
export type AuditDocument = StoredOf<typeof AUDIT_LOG>

/** An operator's action on the installation or on a merchant's data. Written once, never changed. */
export type AuditRecord = RecordOf<typeof AUDIT_LOG>
