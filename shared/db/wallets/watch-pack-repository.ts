import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { bytesOf } from '#shared/db/connection/stored-fields.ts'
import { readFact } from '#shared/db/installation/facts.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { WatchPack, WatchPackHead } from '#shared/ports/watch-packs.ts'
import { WATCH_PACKS, type WatchPackDocument } from './wallet-models.ts'

/** Concurrent writers of the number of packs are few; each loser sees a higher number. */
const TRIES = 20

/**
 * Packs of cold addresses on MongoDB. A pack grows by compare-and-set on its count. The installation's facts name how many packs there are
 * at least, outside the collection, so that the loss of a whole collection is noticed.
 */
export function createWatchPackRepository(db: Database) {
  const packs = db.collection(WATCH_PACKS)
  const facts = db.collection(INSTALLATION)
  const expected = async (mode: Mode, family: Family): Promise<number> =>
    Number((await readFact(db, factOf(mode, family))) ?? 0)

  /** Raises the number of packs that must exist, never lowers it. */
  const expect = async (mode: Mode, family: Family, count: number): Promise<void> => {
    const _id = factOf(mode, family)
    for (let tried = 0; tried < TRIES; tried += 1) {
      const stored = await facts.findOne({ _id })
      if (stored !== null && Number(stored.value) >= count) return
      const next = { value: String(count), changedAt: new Date() }
      if (stored === null) await unlessTaken(() => facts.insertOne({ _id, ...next }))
      else await facts.updateOne({ _id, value: stored.value }, { $set: next })
    }
    throw new Error(`the number of watch packs of ${mode} ${family} could not be stored`)
  }

  return {
    /** Packs from a position on, in order, without their hashes. */
    heads: async (mode: Mode, family: Family, fromSeq: number): Promise<readonly WatchPackHead[]> => {
      const projection = { _id: 0, seq: 1, count: 1 } as const
      const found = packs.find({ mode, family, seq: { $gte: fromSeq } }, { projection })
      return (await found.sort({ seq: 1 }).toArray()).map(({ seq, count }) => ({ seq, count }))
    },
    /** Null when there is none at this position. */
    read: async (mode: Mode, family: Family, seq: number): Promise<WatchPack | null> =>
      orNull(await packs.findOne({ _id: idOf(mode, family, seq) })),
    /** The last pack; null before the first. */
    last: async (mode: Mode, family: Family): Promise<WatchPack | null> => {
      const [stored] = await packs.find({ mode, family }).sort({ seq: -1 }).limit(1).toArray()
      return orNull(stored ?? null)
    },
    /** How many packs there must be at least: fewer were lost. */
    expected,
    /**
     * Stores a pack that begins with what is stored at its position, `storedCount` hashes, 0 where there is none. False, and nothing changed,
     * when another process was faster. Durable on a majority when it resolves.
     */
    put: async (
      mode: Mode,
      family: Family,
      { seq, count, salt, hashes }: WatchPack,
      storedCount: number,
    ): Promise<boolean> => {
      const _id = idOf(mode, family, seq)
      const stored = { count, hashes: binary(hashes) }
      if (storedCount > 0) {
        const { matchedCount } = await packs.updateOne({ _id, count: storedCount }, { $set: stored })
        if (matchedCount === 0) return false
      } else {
        const pack = { _id, mode, family, seq, salt: binary(salt), ...stored }
        if (!(await unlessTaken(() => packs.insertOne(pack)))) return false
      }
      await expect(mode, family, seq + 1)
      return true
    },
  }
}

const factOf = (mode: Mode, family: Family): string => `watch-packs:${mode}:${family}`
const idOf = (mode: Mode, family: Family, seq: number): string => `${mode}:${family}:${seq}`
const binary = (bytes: Uint8Array) => new mongoose.mongo.Binary(bytes)

function orNull(stored: WatchPackDocument | null): WatchPack | null {
  if (stored === null) return null
  const { seq, count, salt, hashes } = stored
  return { seq, count, salt: bytesOf(salt), hashes: bytesOf(hashes) }
}
