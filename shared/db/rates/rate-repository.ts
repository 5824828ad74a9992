import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { RateRepository } from '#shared/ports/rates.ts'
import { RATE_SNAPSHOTS } from './rate-model.ts'

/** Rate snapshots on MongoDB. One per instant: a second snapshot of the same millisecond is dropped. */
export function createRateRepository(db: Database): RateRepository {
  const snapshots = db.collection(RATE_SNAPSHOTS)
  return {
    insert: async (snapshot) => {
      const document = { _id: toDate(snapshot.at).toISOString(), ...RATE_SNAPSHOTS.toDocument(snapshot) }
      await ignoringDuplicates(() => snapshots.insertMany([document], { ordered: false }))
    },
    latest: async () => RATE_SNAPSHOTS.toRecord(await snapshots.findOne({}, { sort: { at: -1 } })),
    latestBefore: async (at, withinMs) =>
      RATE_SNAPSHOTS.toRecord(
        await snapshots.findOne({ at: { $gt: toDate(at - withinMs), $lte: toDate(at) } }, { sort: { at: -1 } }),
      ),
  }
}
