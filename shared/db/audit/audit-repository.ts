import type { Database } from '#shared/db/connection/connect.ts'
import { toMs } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { AuditRecord, AuditRepository } from '#shared/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'
import { auditToDocument } from './audited.ts'

/** The audit log on MongoDB. Ids are deterministic, so writing a row twice stores it once. */
export function createAuditRepository(db: Database): AuditRepository {
  const rows = db.collection(AUDIT_LOG)
  return {
    insertMany: async (records) => {
      if (records.length === 0) return
      await ignoringDuplicates(() => rows.insertMany(records.map(auditToDocument), { ordered: false }))
    },
    listBySubject: async (subject) =>
      (await rows.find({ subject }).sort({ at: 1, _id: 1 }).toArray()).map(auditFromDocument),
  }
}

/** A row as it was written, without its position in the chain. */
export function auditFromDocument(stored: AuditDocument): AuditRecord {
  const { _id, at, waits: _waits, seq: _seq, prevHash: _prevHash, hash: _hash, ...others } = stored
  const { keyId: _keyId, mac: _mac, ...same } = others
  return { id: _id, ...same, at: toMs(at) }
}
