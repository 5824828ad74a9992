import type { MailRepository } from '#shared/usecases/ports/events.ts'
import type { Database } from './connect.ts'
import { toDate } from './dates.ts'
import { ignoringDuplicates } from './duplicate-key.ts'
import { MAILS } from './mail-model.ts'

/** Mails on MongoDB. Ids are deterministic, so the same mail is queued once. */
export function createMailRepository(db: Database): MailRepository {
  const mails = db.collection(MAILS)
  return {
    insertMany: async (records) => {
      if (records.length === 0) return
      const documents = records.map(({ id, createdAt, ...same }) => ({
        _id: id,
        ...same,
        createdAt: toDate(createdAt),
      }))
      await ignoringDuplicates(() => mails.insertMany(documents, { ordered: false }))
    },
  }
}
