import type { BackOff, LoginAttempts } from '#shared/usecases/ports/operators.ts'
import type { Database } from './connect.ts'
import { toDate, toMs } from './dates.ts'
import { duplicateKeyFields } from './duplicate-key.ts'
import { LOGIN_ATTEMPTS } from './operator-models.ts'

/** Counters of failed log-ins on MongoDB: one atomic step counts a try and says whether it may be made. */
export function createLoginAttempts(db: Database): LoginAttempts {
  const attempts = db.collection(LOGIN_ATTEMPTS)
  return {
    begin: async (key, backOff, at) => {
      try {
        const allowed = { _id: key, waitUntil: { $lte: toDate(at) } }
        await attempts.updateOne(allowed, countTry(backOff, at), { upsert: true })
        return { waitMs: 0 }
      } catch (error) {
        // The row is there and does not match: it waits.
        if (duplicateKeyFields(error) === null) throw error
      }
      const waiting = await attempts.findOne({ _id: key })
      return { waitMs: waiting === null ? 0 : Math.max(1, toMs(waiting.waitUntil) - at) }
    },
    clear: async (key) => {
      await attempts.deleteOne({ _id: key })
    },
    forgive: async (key) => {
      // No try begins while another one makes it wait, hence the wait that ends here is the one of the try that is forgiven.
      const change = { failures: { $max: [0, { $subtract: ['$failures', 1] }] }, waitUntil: new Date(0) }
      await attempts.updateOne({ _id: key }, [{ $set: change }])
    },
  }
}

/** Stages of an update: failures first, then the wait that follows from them. */
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
  ]
}
