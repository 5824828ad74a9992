import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { ProcessBeats } from '#shared/ports/installation.ts'
import { PROCESSES } from './process-model.ts'

/** Signs of life on MongoDB. */
export function createProcessBeats(db: Database): ProcessBeats {
  const processes = db.collection(PROCESSES)
  return {
    beat: async ({ id, startedAt, seenAt, silent, masterKeys, ...same }) => {
      const times = { startedAt: toDate(startedAt), seenAt: toDate(seenAt) }
      const keys = masterKeys === undefined ? {} : { masterKeys: [...masterKeys] }
      const document = { ...same, ...times, silent: [...silent], ...keys }
      await processes.updateOne({ _id: id }, { $set: document }, { upsert: true })
    },
    gone: async (id) => {
      await processes.deleteOne({ _id: id })
    },
  }
}
