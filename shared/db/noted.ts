import type mongoose from 'mongoose'
import type { Noted } from '#shared/usecases/ports/operators.ts'
import { audited } from './audited.ts'
import type { Database } from './connect.ts'
import { MAILS } from './mail-model.ts'
import { mailToDocument } from './mail-repository.ts'

/** As `audited`, with the mails that announce the deed in the same transaction. */
export async function withNotes(
  db: Database,
  { audit, mails = [] }: Noted,
  change: (session: mongoose.mongo.ClientSession) => Promise<boolean>,
): Promise<boolean> {
  return await audited(db, audit, async (session) => {
    if (!(await change(session))) return false
    for (const { _id, ...rest } of mails.map(mailToDocument)) {
      await db.collection(MAILS).updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
    }
    return true
  })
}
