import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditFilter } from '#shared/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument, type AuditRecord } from './audit-model.ts'

/** The order of every list of the audit log: newest first, and rows with the same time by id. */
export const AUDIT_ORDER = { at: -1, _id: -1 } as const

/** Reads the audit log on MongoDB. */
export function createAuditSearch(db: Database) {
  const rows = db.collection(AUDIT_LOG)
  return {
    /** Rows after `after`; at most `limit`. `seq` is null while a row is not chained. */
    search: async (
      filter: AuditFilter,
      after: { readonly at: Ms; readonly id: string } | null,
      limit: number,
    ): Promise<readonly (AuditRecord & { readonly seq: number | null })[]> => {
      const found = await rows.find(auditFilter(filter, after)).sort(AUDIT_ORDER).limit(limit).toArray()
      return found.map((row) => ({ ...AUDIT_LOG.toRecord(row), seq: row.seq ?? null }))
    },
  }
}

/** The filter of a list of audit rows. */
export function auditFilter(
  { workspaceId, subject, actor, from, until }: AuditFilter,
  after: { readonly at: number; readonly id: string } | null,
): mongoose.mongo.Filter<AuditDocument> {
  const at = {
    ...(from !== undefined && { $gte: toDate(from) }),
    ...(until !== undefined && { $lt: toDate(until) }),
    ...(after !== null && { $lte: toDate(after.at) }),
  }
  const behind =
    after === null ? [] : [{ at: { $lt: toDate(after.at) } }, { at: toDate(after.at), _id: { $lt: after.id } }]
  return {
    ...(workspaceId !== null && { workspaceId }),
    ...(subject !== undefined && { subject }),
    ...(actor !== undefined && { actor }),
    ...(Object.keys(at).length > 0 && { at }),
    ...(behind.length > 0 && { $or: behind }),
  }
}
