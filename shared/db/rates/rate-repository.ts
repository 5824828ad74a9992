import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { RATE_SNAPSHOTS, type RateSnapshot } from './rate-model.ts'

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
  }
}

/** The type of what {@link createRateRepository} returns. */
export type RateRepository = ReturnType<typeof createRateRepository>
