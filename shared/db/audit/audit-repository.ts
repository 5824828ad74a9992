import type { Database } from '#shared/db/connection/connect.ts'
import { toMs } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { AuditRecord, AuditRepository } from '#shared/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'
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
      return stored === undefined ? null : auditFromDocument(stored)
    },
    listBySubject: async (subject) => {
      // In the order of the index, so that no more than these are read.
      const found = await rows.find({ subject }).sort({ at: -1 }).limit(LISTED_MAX).toArray()
      return found.map(auditFromDocument).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    },
  }
}

/** A row as it was written, without its position in the chain. */
export function auditFromDocument(stored: AuditDocument): AuditRecord {
  const { _id, at, waits: _waits, seq: _seq, prevHash: _prevHash, hash: _hash, ...others } = stored
  const { keyId: _keyId, mac: _mac, ...same } = others
  return { id: _id, ...same, at: toMs(at) }
}
