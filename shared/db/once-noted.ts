import type mongoose from 'mongoose'
import type { Noted } from '#shared/usecases/ports/operators.ts'
import { AUDIT_LOG } from './audit-model.ts'
import type { Database } from './connect.ts'
import { withNotes } from './noted.ts'

/**
 * As `withNotes`, and once for an audit row's id: where it is noted already nothing happens, and the answer is false. Of two at
 * the same moment the second one meets the first one's row, is run again and finds it.
 */
export async function onceNoted(
  db: Database,
  noted: Noted,
  change: (session: mongoose.mongo.ClientSession) => Promise<boolean>,
): Promise<boolean> {
  return await withNotes(db, noted, async (session) => {
    const known = await db.collection(AUDIT_LOG).findOne({ _id: noted.audit.id }, { session, projection: { _id: 1 } })
    return known === null && (await change(session))
  })
}

/** Whether a deed was noted under this id. */
export async function isNoted(db: Database, auditId: string): Promise<boolean> {
  return (await db.collection(AUDIT_LOG).findOne({ _id: auditId }, { projection: { _id: 1 } })) !== null
}
