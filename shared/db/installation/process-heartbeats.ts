import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { PROCESSES, type ProcessState } from './process-model.ts'

/** Heartbeats come every 15 s; a process that has sent none for three intervals does not count. */
const LIVE_FOR_MS = 45_000
const isLive = (at: Ms) => ({ seenAt: { $gt: toDate(at - LIVE_FOR_MS) } })

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
    /** How many processes of that name are alive. */
    countLive: (name: string, at: Ms): Promise<number> => processes.countDocuments({ name, ...isLive(at) }),
    /** Whether a live process on another machine is at most so far from the store's clock, in either direction. */
    isAnotherOnTime: async (host: string, at: Ms, driftMaxMs: number): Promise<boolean> => {
      const isOnTime = { host: { $ne: host }, driftMs: { $gte: -driftMaxMs, $lte: driftMaxMs } }
      return (await processes.countDocuments({ ...isOnTime, ...isLive(at) }, { limit: 1 })) > 0
    },
  }
}

/** The type of what {@link createProcessHeartbeats} returns. */
export type ProcessHeartbeats = ReturnType<typeof createProcessHeartbeats>
