import { z } from 'zod'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { jsonFact } from '#shared/db/installation/facts.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { FailingSource } from '#shared/ports/rate-sources.ts'
import { RATE_SNAPSHOTS, type RateSnapshot } from './rate-model.ts'

/** An operator's word is about the market of now: a price that has not come within this time needs it again. */
const CONFIRMED_MS = 60 * 60_000

const confirmation = z.object({ price: z.string(), at: z.number() })
const failing = z.array(z.strictObject({ source: z.string(), reason: z.string(), since: z.number() }))
const FAILING = jsonFact<readonly FailingSource[]>('rate_sources_failing', failing)
const confirmationOf = (name: string) => jsonFact(`rate_confirmation:${name}`, confirmation)

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
      return (await FAILING.read(db)) ?? []
    },
    recordFailing: (sources: readonly FailingSource[]): Promise<void> => FAILING.write(db, sources),
    /** Stores that an operator confirms this price, in place of what was confirmed before, and its audit row. */
    confirm: (name: string, price: string, audit: AuditRecord): Promise<boolean> =>
      insertAudited(db, audit, (within) => confirmationOf(name).write(db, { price, at: audit.at }, within)),
    /** The price that an operator confirmed in the hour before `now`; null without one. */
    confirmed: async (name: string, now: Ms): Promise<string | null> => {
      const confirmed = await confirmationOf(name).read(db)
      return confirmed !== null && now - confirmed.at <= CONFIRMED_MS ? confirmed.price : null
    },
  }
}

/** The type of what {@link createRateRepository} returns. */
export type RateRepository = ReturnType<typeof createRateRepository>
