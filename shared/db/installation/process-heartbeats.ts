import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { ProcessHeartbeats } from '#shared/ports/processes.ts'
import { PROCESSES } from './process-model.ts'

/** Heartbeats on MongoDB. */
export function createProcessHeartbeats(db: Database): ProcessHeartbeats {
  const processes = db.collection(PROCESSES)
  return {
    beat: async (state) => {
      const { _id, ...document } = PROCESSES.toDocument(state)
      await processes.updateOne({ _id }, { $set: document }, { upsert: true })
    },
    gone: async (id) => {
      await processes.deleteOne({ _id: id })
    },
    countLive: (name, since) => processes.countDocuments({ name, seenAt: { $gt: toDate(since) } }),
  }
}
