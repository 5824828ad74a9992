import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { RateRepository, RateSnapshot } from '#shared/ports/rates.ts'
import { RATE_SNAPSHOTS, type RateDocument } from './rate-model.ts'

/** Rate snapshots on MongoDB. One per instant: a second snapshot of the same millisecond is dropped. */
export function createRateRepository(db: Database): RateRepository {
  const snapshots = db.collection(RATE_SNAPSHOTS)
  return {
    insert: async (snapshot) => {
      const at = toDate(snapshot.at)
      const document = { _id: at.toISOString(), ...snapshot, at }
      await ignoringDuplicates(() => snapshots.insertMany([document], { ordered: false }))
    },
    latest: async () => fromDocument(await snapshots.findOne({}, { sort: { at: -1 } })),
    latestBefore: async (at, withinMs) =>
      fromDocument(
        await snapshots.findOne({ at: { $gt: toDate(at - withinMs), $lte: toDate(at) } }, { sort: { at: -1 } }),
      ),
  }
}

function fromDocument(stored: RateDocument | null): RateSnapshot | null {
  if (stored === null) return null
  const { at, usdPerSymbol, fiatPerUsd, guards, heardAt } = stored
  return {
    at: toMs(at),
    usdPerSymbol,
    fiatPerUsd,
    guards,
    heardAt,
  }
}
