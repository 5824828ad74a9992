import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/usecases/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'
import type { Database } from './connect.ts'
import { toDate } from './dates.ts'

/** The stored form of a new audit row, which waits for its place in the chain. */
export function auditToDocument({ id, at, detail, ...same }: AuditRecord): AuditDocument {
  return { _id: id, ...same, at: toDate(at), detail: { ...detail }, waits: true }
}

/**
 * Runs `change` and adds the audit row in one transaction: both are stored or neither is. When `change` answers false it found
 * nothing to change, and nothing is noted. `change` may run several times and must use the session for all it does.
 */
export async function audited(
  db: Database,
  audit: AuditRecord,
  change: (session: mongoose.mongo.ClientSession) => Promise<boolean>,
): Promise<boolean> {
  const session = db.connection.getClient().startSession()
  try {
    return await session.withTransaction(async () => {
      if (!(await change(session))) return false
      const row = auditToDocument(audit)
      await db.collection(AUDIT_LOG).updateOne({ _id: row._id }, { $setOnInsert: row }, { upsert: true, session })
      return true
    })
  } finally {
    await session.endSession()
  }
}

/** Runs an insert, in one transaction with its audit row where one is given; `session` is null without. Throws what the insert throws. */
export async function insertAudited(
  db: Database,
  audit: AuditRecord | undefined,
  insert: (session: mongoose.mongo.ClientSession | null) => Promise<void>,
): Promise<void> {
  if (audit === undefined) return await insert(null)
  await audited(db, audit, async (session) => {
    await insert(session)
    return true
  })
}
