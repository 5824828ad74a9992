import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields, unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BackOff } from '#shared/ports/back-off.ts'
import { LOGIN_ATTEMPTS } from './operator-models.ts'

/** How often a try is counted again after a conflict with other first tries of the same key. */
const ROUNDS = 5
/** The wait of a try after that many conflicts. */
const CROWDED_WAIT_MS = 1_000

/** Counters of failed tries on MongoDB: one atomic step counts a try and returns its wait. */
export function createLoginAttempts(db: Database) {
  const attempts = db.collection(LOGIN_ATTEMPTS)
  return {
    /** Counts a try before its outcome is known, so that concurrent tries cannot slip through; returns the wait if it is refused. */
    begin: async (key: string, backOff: BackOff, at: Ms): Promise<{ readonly waitMs: Ms }> => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const allowed = { _id: key, waitUntil: { $lte: toDate(at) } }
        const counted = () => attempts.updateOne(allowed, [...countTry(backOff, at)], { upsert: true })
        if (await unlessTaken(counted)) return { waitMs: 0 }
        // The row exists: the try waits, or another first try wrote it a moment ago and this one is counted after it.
        const waiting = await attempts.findOne({ _id: key })
        if (waiting !== null && waiting.waitUntil > toDate(at)) return { waitMs: toMs(waiting.waitUntil) - at }
      }
      return { waitMs: CROWDED_WAIT_MS }
    },
    /** Counts a wrong try; returns the delay of its response. Refuses nothing. */
    fail: async (key: string, backOff: BackOff, at: Ms): Promise<{ readonly delayMs: Ms }> => {
      const [failures] = countTry(backOff, at)
      const times = { $set: { lastAt: toDate(at), waitUntil: toDate(at) } }
      const count = async () =>
        await attempts.findOneAndUpdate({ _id: key }, [failures, times], { upsert: true, returnDocument: 'after' })
      const counted = await count().catch(async (error: unknown) => {
        // Another first try wrote the row a moment ago.
        if (duplicateKeyFields(error) === null) throw error
        return await count()
      })
      return { delayMs: waitOf(backOff, counted?.failures ?? 1) }
    },
    /** Drops all failures. */
    clear: async (key: string): Promise<void> => {
      await attempts.deleteOne({ _id: key })
    },
  }
}

/** The type of what {@link createLoginAttempts} returns. */
export type LoginAttempts = ReturnType<typeof createLoginAttempts>

function waitOf({ free, firstWaitMs, waitMaxMs }: BackOff, failures: number): number {
  return failures <= free ? 0 : Math.min(waitMaxMs, firstWaitMs * 2 ** Math.min(30, failures - free - 1))
}

/** Stages of an update: failures first, then the resulting wait. */
function countTry({ free, firstWaitMs, waitMaxMs, forgottenAfterMs }: BackOff, at: number) {
  const isOld = { $lt: [{ $ifNull: ['$lastAt', new Date(0)] }, toDate(at - forgottenAfterMs)] }
  const before = { $cond: [isOld, 0, { $ifNull: ['$failures', 0] }] }
  const doublings = { $min: [30, { $subtract: ['$failures', free + 1] }] }
  const wait = { $min: [waitMaxMs, { $multiply: [firstWaitMs, { $pow: [2, doublings] }] }] }
  return [
    { $set: { failures: { $add: [before, 1] } } },
    {
      $set: {
        lastAt: toDate(at),
        waitUntil: { $cond: [{ $gt: ['$failures', free] }, { $add: [toDate(at), wait] }, toDate(at)] },
      },
    },
  ] as const
}
