import type { Database } from '#shared/db/connection/connect.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { AuditRepository } from '#shared/ports/audit.ts'
import { AUDIT_LOG } from './audit-model.ts'
import { auditToDocument } from './audited.ts'

/** More rows about one subject are of no use on a page. */
const LISTED_MAX = 1_000

/** The audit log on MongoDB. Ids are deterministic, so writing a row twice stores it once. */
export function createAuditRepository(db: Database): AuditRepository {
  const rows = db.collection(AUDIT_LOG)
  return {
    insertMany: async (records) => {
      if (records.length === 0) return
      await ignoringDuplicates(() => rows.insertMany(records.map(auditToDocument), { ordered: false }))
    },
    isRecorded: async (id, subject) => (await rows.findOne({ _id: id, subject }, { projection: { _id: 1 } })) !== null,
    newestOf: async (subject, action) => {
      const wanted = { subject, ...(action !== undefined && { action }) }
      const [stored] = await rows.find(wanted).sort({ at: -1 }).limit(1).toArray()
      return AUDIT_LOG.toRecord(stored ?? null)
    },
    listBySubject: async (subject) => {
      // In the order of the index, so that no more than these are read.
      const found = await rows.find({ subject }).sort({ at: -1 }).limit(LISTED_MAX).toArray()
      return found.map(AUDIT_LOG.toRecord).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    },
  }
}
