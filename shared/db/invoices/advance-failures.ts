import { z } from 'zod'
import { defineCollection } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { INVOICES } from './invoice-model.ts'

/** Consecutive failures to bring one invoice up to date. */
interface AdvanceFailure {
  /** Including this one. */
  readonly failures: number
  /** The invoice's workspace and mode; null when unknown. */
  readonly owner: { readonly workspaceId: string; readonly mode: Mode } | null
}

const WEEK_S = 7 * 86_400
/** Of more broken invoices, the record of those that failed first is removed with its age instead of at their success. */
const LISTED_MAX = 10_000

/** The advance_failures collection; a row expires a week after its last failure. */
export const ADVANCE_FAILURES = defineCollection(
  'advance_failures',
  {
    /** The invoice. */
    _id: z.string(),
    failures: z.number(),
    retryAt: TIME,
  },
  [{ name: 'advance_failure_life', key: { retryAt: 1 }, expireAfterSeconds: WEEK_S }],
)

/** Failures on MongoDB. A crash between the count and the time leaves a time that is too early, never a lost count. */
export function createAdvanceFailures(db: Database) {
  const rows = db.collection(ADVANCE_FAILURES)
  return {
    /** Records another consecutive failure; the sweep skips the invoice until `pauseOf` of their number has passed since `at`. */
    note: async (invoiceId: string, at: Ms, pauseOf: (failures: number) => Ms): Promise<AdvanceFailure> => {
      const counted = await rows.findOneAndUpdate(
        { _id: invoiceId },
        { $inc: { failures: 1 }, $set: { retryAt: toDate(at) } },
        { upsert: true, returnDocument: 'after' },
      )
      const failures = counted?.failures ?? 1
      await rows.updateOne({ _id: invoiceId, failures }, { $set: { retryAt: toDate(at + pauseOf(failures)) } })
      // Read without parsing the invoice: an unreadable invoice is one of the reasons for a failure.
      const owner = await db
        .collection(INVOICES)
        .findOne({ _id: invoiceId }, { projection: { workspaceId: 1, mode: 1 } })
      return { failures, owner: owner === null ? null : { workspaceId: owner.workspaceId, mode: owner.mode } }
    },
    /** Recorded invoices, at most the 10,000 that failed last. */
    list: async (): Promise<ReadonlySet<string>> => {
      const found = await rows
        .find({}, { projection: { _id: 1 } })
        .sort({ retryAt: -1 })
        .limit(LISTED_MAX)
        .toArray()
      return new Set(found.map(({ _id }) => _id))
    },
    /** Those of these invoices that the sweep may not return yet at a time, however many are recorded. */
    pausing: async (invoiceIds: readonly string[], at: Ms): Promise<ReadonlySet<string>> => {
      const paused = { _id: { $in: [...invoiceIds] }, retryAt: { $gt: toDate(at) } }
      return new Set((await rows.find(paused, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id))
    },
    /** Removes the record of an invoice that was brought up to date; returns its number of failures, 0 without a record. */
    forget: async (invoiceId: string): Promise<number> => {
      const known = await rows.findOne({ _id: invoiceId })
      await rows.deleteOne({ _id: invoiceId })
      return known?.failures ?? 0
    },
  }
}

/** The type of what {@link createAdvanceFailures} returns. */
export type AdvanceFailures = ReturnType<typeof createAdvanceFailures>
