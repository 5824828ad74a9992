import type { Database } from '#shared/db/connection/connect.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import { AUDIT_LOG, type AuditRecord } from './audit-model.ts'
import { auditToDocument } from './audited.ts'

/** More rows about one subject are of no use on a page. */
const LISTED_MAX = 1_000

/** The audit log on MongoDB. Ids are deterministic, so writing a row twice stores it once. */
export function createAuditRepository(db: Database) {
  const rows = db.collection(AUDIT_LOG)
  return {
    /** Adds what is missing. */
    insertMany: async (records: readonly AuditRecord[]): Promise<void> => {
      if (records.length === 0) return
      await ignoringDuplicates(() => rows.insertMany(records.map(auditToDocument), { ordered: false }))
    },
    /** Whether an action with this id about this subject is recorded. */
    isRecorded: async (id: string, subject: string): Promise<boolean> =>
      (await rows.findOne({ _id: id, subject }, { projection: { _id: 1 } })) !== null,
    /** The newest row about a subject, of one action if given; null without one. */
    newestOf: async (subject: string, action?: AuditAction): Promise<AuditRecord | null> => {
      const wanted = { subject, ...(action !== undefined && { action }) }
      const [stored] = await rows.find(wanted).sort({ at: -1 }).limit(1).toArray()
      return AUDIT_LOG.toRecord(stored ?? null)
    },
    /** The newest 1,000 rows about one subject, oldest first. */
    listBySubject: async (subject: string): Promise<readonly AuditRecord[]> => {
      // In the order of the index, so that no more than these are read.
      const found = await rows.find({ subject }).sort({ at: -1 }).limit(LISTED_MAX).toArray()
      return found.map(AUDIT_LOG.toRecord).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    },
  }
}

/** The type of what {@link createAuditRepository} returns. */
export type AuditRepository = ReturnType<typeof createAuditRepository>
