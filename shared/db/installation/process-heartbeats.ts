import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { PROCESSES, type ProcessState } from './process-model.ts'

/** Heartbeats on MongoDB. */
export function createProcessHeartbeats(db: Database) {
  const processes = db.collection(PROCESSES)
  return {
    beat: async (state: ProcessState): Promise<void> => {
      const { _id, ...document } = PROCESSES.toDocument(state)
      await processes.updateOne({ _id }, { $set: document }, { upsert: true })
    },
    /** Removes it: the process stopped normally. */
    gone: async (id: string): Promise<void> => {
      await processes.deleteOne({ _id: id })
    },
    /** How many processes of that name sent a heartbeat since then. */
    countLive: (name: string, since: Ms): Promise<number> =>
      processes.countDocuments({ name, seenAt: { $gt: toDate(since) } }),
  }
}

/** The type of what {@link createProcessHeartbeats} returns. */
export type ProcessHeartbeats = ReturnType<typeof createProcessHeartbeats>
