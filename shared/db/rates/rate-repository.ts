import { z } from 'zod'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { FailingSource } from '#shared/ports/rate-sources.ts'
import { RATE_SNAPSHOTS, type RateSnapshot } from './rate-model.ts'

/** An operator's word is about the market of now: a price that has not come within this time needs it again. */
const CONFIRMED_MS = 60 * 60_000

const confirmation = z.object({ price: z.string(), at: z.number() })
const FAILING = 'rate_sources_failing'
const failingSchema = z.array(z.strictObject({ source: z.string(), reason: z.string(), since: z.number() }))
const factOf = (name: string): string => `rate_confirmation:${name}`

/** Rate snapshots on MongoDB. One per instant: a second snapshot of the same millisecond is dropped. */
export function createRateRepository(db: Database) {
  const snapshots = db.collection(RATE_SNAPSHOTS)
  return {
    insert: async (snapshot: RateSnapshot): Promise<void> => {
      const document = { _id: toDate(snapshot.at).toISOString(), ...RATE_SNAPSHOTS.toDocument(snapshot) }
      await ignoringDuplicates(() => snapshots.insertMany([document], { ordered: false }))
    },
    /** The newest snapshot, fresh or not; null when there never was one. */
    latest: async (): Promise<RateSnapshot | null> =>
      RATE_SNAPSHOTS.toRecord(await snapshots.findOne({}, { sort: { at: -1 } })),
    /** The newest snapshot taken in (`at` − withinMs, `at`]; null when there is none. */
    latestBefore: async (at: Ms, withinMs: number): Promise<RateSnapshot | null> =>
      RATE_SNAPSHOTS.toRecord(
        await snapshots.findOne({ at: { $gt: toDate(at - withinMs), $lte: toDate(at) } }, { sort: { at: -1 } }),
      ),
    /** The price sources that fail, as the process that polls them last stored it. */
    failing: async (): Promise<readonly FailingSource[]> => {
      const fact = await db.collection(INSTALLATION).findOne({ _id: FAILING })
      return fact === null ? [] : failingSchema.parse(JSON.parse(fact.value))
    },
    recordFailing: async (sources: readonly FailingSource[]): Promise<void> => {
      const change = { $set: { value: JSON.stringify(sources) }, $currentDate: { changedAt: true as const } }
      await db.collection(INSTALLATION).updateOne({ _id: FAILING }, change, { upsert: true })
    },
    /** Stores that an operator confirms this price, in place of what was confirmed before, and its audit row. */
    confirm: (name: string, price: string, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const value = JSON.stringify({ price, at: audit.at })
        const change = { $set: { value }, $currentDate: { changedAt: true as const } }
        await db.collection(INSTALLATION).updateOne({ _id: factOf(name) }, change, { upsert: true, session })
        return true
      }),
    /** The price that an operator confirmed in the hour before `now`; null without one. */
    confirmed: async (name: string, now: Ms): Promise<string | null> => {
      const fact = await db.collection(INSTALLATION).findOne({ _id: factOf(name) })
      if (fact === null) return null
      const { price, at } = confirmation.parse(JSON.parse(fact.value))
      return now - at <= CONFIRMED_MS ? price : null
    },
  }
}

/** The type of what {@link createRateRepository} returns. */
export type RateRepository = ReturnType<typeof createRateRepository>
