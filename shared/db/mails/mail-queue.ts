import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { MailOutcome } from '#shared/ports/mail-queue.ts'
import { MAILS, type MailDocument, type QueuedMail } from './mail-model.ts'

const WEEK_MS = 7 * 86_400_000
/** Mails that are due at some time; exported for the test that explains the query. */
export const dueBy = (until: Ms) => ({ status: 'pending' as const, dueAt: { $lte: toDate(until) } })
/** True for mails that are due by the store's own clock. */
const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }

/** The mailer's side of the mails on MongoDB: claims and outcomes are fenced by lease token, times are the store's. */
export function createMailQueue(db: Database) {
  const mails = db.collection(MAILS)
  return {
    /** Pending mails due before `until`, oldest first. */
    due: async (until: Ms, limit: number): Promise<readonly { readonly id: string; readonly dueAt: Ms }[]> => {
      const due = dueBy(until)
      if (!(await isAny(db, { of: MAILS, filter: due, hint: 'mail_due' }))) return []
      const found = await mails
        .find(due, { projection: { dueAt: 1 }, hint: 'mail_due' })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray()
      return found.map((row) => ({ id: row._id, dueAt: toMs(row.dueAt) }))
    },
    /** Claims a due mail for `leaseMs`; null when it is not due, claimed by another or finished. */
    claim: async (id: string, token: string, leaseMs: Ms): Promise<QueuedMail | null> => {
      const lease = { dueAt: { $add: ['$$NOW', leaseMs] }, leaseToken: { $literal: token } }
      const claimed = await mails.findOneAndUpdate(
        { _id: id, status: 'pending', ...IS_DUE },
        [{ $set: { ...lease, claims: { $add: ['$claims', 1] } } }],
        { returnDocument: 'after' },
      )
      return MAILS.toRecord(claimed)
    },
    /** False when the lease was lost; then nothing was written. */
    finish: async (outcome: MailOutcome): Promise<boolean> => {
      const held = { _id: outcome.mailId, status: 'pending' as const, leaseToken: outcome.leaseToken }
      const change = { $set: changeOf(outcome), $inc: { attempt: outcome.counts ? 1 : 0 } }
      return (await mails.updateOne(held, change)).matchedCount === 1
    },
    /** Releases a claimed mail that was not tried at once. */
    release: async (id: string, token: string): Promise<void> => {
      await mails.updateOne({ _id: id, status: 'pending', leaseToken: token }, [
        { $set: { dueAt: '$$NOW', leaseToken: null } },
      ])
    },
    findById: async (id: string): Promise<QueuedMail | null> => MAILS.toRecord(await mails.findOne({ _id: id })),
    // The index for expiry serves this order.
    /** The latest mails, newest first. */
    listNewest: async (limit: number): Promise<readonly QueuedMail[]> =>
      (await mails.find({}).sort({ createdAt: -1 }).limit(limit).toArray()).map(MAILS.toRecord),
    /** How many wait, how many of them have been due since before `overdueSince`, and how many failed in the last week. */
    count: async (
      overdueSince: Ms,
    ): Promise<{ readonly waiting: number; readonly overdue: number; readonly failed: number }> => {
      const pending = { status: 'pending' as const }
      const lately = { status: 'failed' as const, finishedAt: { $gte: toDate(overdueSince - WEEK_MS) } }
      const [waiting, overdue, failed] = await Promise.all([
        mails.countDocuments(pending, { hint: 'mail_due' }),
        mails.countDocuments({ ...pending, dueAt: { $lte: toDate(overdueSince) } }, { hint: 'mail_due' }),
        mails.countDocuments(lately, { hint: 'mail_failed' }),
      ])
      return { waiting, overdue, failed }
    },
  }
}

/** The type of what {@link createMailQueue} returns. */
export type MailQueue = ReturnType<typeof createMailQueue>

function changeOf({ result, dueAt, at, reply }: MailOutcome): Partial<MailDocument> {
  const seen = { leaseToken: null, lastReply: reply }
  if (result === 'retry') return { ...seen, dueAt: toDate(dueAt ?? at) }
  return { ...seen, status: result, finishedAt: toDate(at) }
}
