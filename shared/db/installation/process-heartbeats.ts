import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { ProcessHeartbeats } from '#shared/ports/processes.ts'
import { PROCESSES } from './process-model.ts'

/** Heartbeats on MongoDB. */
export function createProcessHeartbeats(db: Database): ProcessHeartbeats {
  const processes = db.collection(PROCESSES)
  return {
    beat: async ({ id, startedAt, seenAt, silent, masterKeys, ...same }) => {
      const times = { startedAt: toDate(startedAt), seenAt: toDate(seenAt) }
      const document = { ...same, ...times, silent: [...silent], masterKeys: [...masterKeys] }
      await processes.updateOne({ _id: id }, { $set: document }, { upsert: true })
    },
    gone: async (id) => {
      await processes.deleteOne({ _id: id })
    },
    countLive: (name, since) => processes.countDocuments({ name, seenAt: { $gt: toDate(since) } }),
  }
}
