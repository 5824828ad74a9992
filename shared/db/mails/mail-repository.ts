import type { Database } from '#shared/db/connection/connect.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { MAILS, type MailDocument, type MailRecord } from './mail-model.ts'

/** Mails on MongoDB. Ids are deterministic, so the same mail is queued once; it is due at once. */
export function createMailRepository(db: Database) {
  const mails = db.collection(MAILS)
  return {
    /** Queues what is missing. */
    insertMany: async (records: readonly MailRecord[]): Promise<void> => {
      if (records.length === 0) return
      await ignoringDuplicates(() => mails.insertMany(records.map(mailToDocument), { ordered: false }))
    },
    /** True when one of these was ever queued and is still stored (90 days). */
    hasAny: async (ids: readonly string[]): Promise<boolean> =>
      (await mails.findOne({ _id: { $in: [...ids] } }, { projection: { _id: 1 } })) !== null,
  }
}

/** The stored form of a new mail, which is due at once. */
export function mailToDocument(mail: MailRecord): MailDocument {
  const waiting = { status: 'pending', attempt: 0, claims: 0, leaseToken: null, finishedAt: null } as const
  return MAILS.toDocument({ ...mail, ...waiting, dueAt: mail.createdAt, lastReply: null })
}
