import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { documentOf } from './archive-records.ts'
import { BATCH, persist, type ReadMoment, readRaw } from './read-at.ts'

/** Documents that a range is meant to have. */
const RANGE = 20_000
/** Sampled ids per range: enough that no range becomes several times larger than the others. */
const SAMPLES = 20
/** Bytes of documents that are collected before they are passed on. */
const BATCH_BYTES = 4 * 1_048_576

/** Part of a collection: ids from `min` on (included) up to `max` (excluded), in the order of the `_id` index; absent: no bound. */
export interface IdRange {
  readonly name: string
  readonly min?: unknown
  readonly max?: unknown
}

/**
 * Ranges that together contain every possible `_id` once, of about equally many documents. The bounds are sampled; correctness does not
 * depend on them.
 */
export async function rangesOf(db: Database, name: string, documents: number): Promise<readonly IdRange[]> {
  const count = Math.ceil(documents / RANGE)
  if (count <= 1) return [{ name }]
  const sampled = await db.connection
    .getClient()
    .db(db.name)
    .collection(name)
    .aggregate<{ _id: unknown }>(
      [
        { $sample: { size: count * SAMPLES } },
        { $project: { _id: 1 } },
        { $group: { _id: '$_id' } },
        { $sort: { _id: 1 } },
      ],
      { promoteValues: false, allowDiskUse: true },
    )
    .toArray()
  const bounds = sampled.filter((_, index) => index > 0 && index % SAMPLES === 0).map(({ _id }) => _id)
  return [undefined, ...bounds].map((min, index) => ({
    name,
    ...(min === undefined ? {} : { min }),
    ...(index < bounds.length ? { max: bounds[index] } : {}),
  }))
}

/**
 * Documents of a range in the order of their ids, as raw BSON in batches. Every document that exists, unchanged, from `since` until the end of the
 * reading is returned exactly once; one that changes meanwhile may be returned in any of its states, or not at all. After an election
 * or a lost cursor the reading continues after the last document.
 */
export async function* readRange(
  db: Database,
  range: IdRange,
  since: mongoose.mongo.Timestamp,
): AsyncGenerator<readonly Buffer[]> {
  const concern: ReadMoment = { level: 'majority', afterClusterTime: since }
  let last: Buffer | null = null
  const rest = async function* (): AsyncGenerator<Buffer> {
    // Bounds of the index, because a comparison in the filter finds ids of one BSON type only.
    const after: { readonly _id?: unknown } = last === null ? {} : documentOf(last)
    const min = last === null ? range.min : after._id
    const bounds = {
      ...(min === undefined ? {} : { min: { _id: min } }),
      ...(range.max === undefined ? {} : { max: { _id: range.max } }),
    }
    const skipped = last === null ? {} : { _id: { $ne: after._id } }
    yield* readRaw(db, { find: range.name, filter: skipped, ...bounds, hint: { _id: 1 }, batchSize: BATCH }, concern)
  }
  let batch: Buffer[] = []
  let bytes = 0
  for await (const document of persist(rest)) {
    last = document
    batch.push(document)
    bytes += document.length
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}
