import { setTimeout as wait } from 'node:timers/promises'
import mongoose from 'mongoose'
import { classOf } from '#shared/db/connection/collection-class.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { schemaVersion } from '#shared/db/schema/schema-version.ts'
import { documentOf } from './archive-records.ts'
import {
  type ArchiveWriter,
  type BackupProgress,
  createArchiveWriter,
  type DocumentBatch,
  type StoredCounts,
} from './archive-writer.ts'
import { type BackupMoment, endMoment, startMoment } from './backup-moments.ts'
import { type ChangeCollector, type ChangedIds, ChangesLost, collectChanges } from './change-collector.ts'
import { BATCH, isPassing, persist, type ReadMoment, readRaw } from './read-at.ts'

/** Documents that a range is meant to have. */
const RANGE = 20_000
/** Sampled ids per range: enough that no range becomes several times larger than the others. */
const SAMPLES = 20
/** Bytes of documents that are collected before they are passed on. */
const BATCH_BYTES = 4 * 1_048_576
/** Ranges that are read side by side. */
const WIDTH = 3
/** With more changed documents held, no further range begins before they were read again. */
const CHANGED_MAX = 200_000
/** The last pass reads one snapshot; the passes before it leave it at most this many documents, if they can. */
const LAST_PASS_MAX = 5_000
const PASSES_MAX = 10
const ATTEMPTS = 10
const SNAPSHOT_UNAVAILABLE = 246
const SNAPSHOT_TOO_OLD = 239
const WRITE_CONCERN_FAILED = 64
/** Codes of the store after which a later moment is tried. */
const LATER_MOMENT = new Set<unknown>([SNAPSHOT_UNAVAILABLE, SNAPSHOT_TOO_OLD, WRITE_CONCERN_FAILED])

/** Contents of a back-up. */
export interface BackupTotals {
  /** The moment whose state a restore of the archive brings back. */
  readonly takenAt: Date
  /** Documents of each collection at that moment. */
  readonly counts: Readonly<Record<string, number>>
  /** Documents that were read again, because they changed while the back-up ran. */
  readonly changed: number
  /** Collections of the database that this version does not define; they are not in the archive. */
  readonly ignored: readonly string[]
}

/** Options of `readBackup`. */
interface BackupOptions {
  /** Names this back-up in the archive and in the audit log. */
  readonly id: string
  readonly onProgress: (progress: BackupProgress) => void
  readonly onEnd: (totals: BackupTotals) => void
  /** With more changed documents held, they are read again before the next range begins. Default 200,000. */
  readonly changedMax?: number
  /** Reads only documents that changed at this cluster time or later, and counts none. Default: all. */
  readonly since?: mongoose.mongo.Timestamp
}

/** The steps of a back-up. A test exchanges one by a wrong one, to show that the wrong one is found. */
export interface BackupSteps {
  readonly startMoment: typeof startMoment
  readonly endMoment: typeof endMoment
  readonly collectChanges: typeof collectChanges
  readonly rangesOf: typeof rangesOf
  readonly readRange: typeof readRange
  readonly readChanged: typeof readChanged
}

/** The steps of the product. */
export const STEPS: BackupSteps = { startMoment, endMoment, collectChanges, rangesOf, readRange, readChanged }

/**
 * Every document of every kept collection as of one moment, the end, as records of an archive; finally it calls `onEnd`. Collections
 * are read in ranges at any speed, beside all writes; documents that changed meanwhile are read again, and those that changed last
 * are read at one snapshot, which the store need keep for some seconds only. Throws `ChangesLost` when the store's oplog no longer holds the changes.
 */
export async function* readBackup(
  db: Database,
  options: BackupOptions,
  steps: BackupSteps = STEPS,
): AsyncGenerator<Buffer> {
  const { onProgress, onEnd, id, changedMax = CHANGED_MAX, since } = options
  const names = MODELS.map(({ name }) => name).filter((name) => classOf(name).backup === 'kept')
  const version = await schemaVersion(db)
  const start = await steps.startMoment(db)
  const changes = steps.collectChanges(db, names, since ?? start.time)
  const out = createArchiveWriter(onProgress)
  try {
    yield out.control({ t: 'start', backupId: id, startedAt: start.at.toISOString(), schemaVersion: version })
    const ranges = since === undefined ? await allRanges(db, names, steps) : []
    while (ranges.length > 0) {
      let begun = 0
      const next = (): AsyncGenerator<DocumentBatch> | null => {
        // At least one, however fast documents change.
        const range = begun > 0 && changes.size() > changedMax ? undefined : ranges.shift()
        begun += 1
        return range === undefined ? null : documentsOf(steps.readRange(db, range, changes.newest()), range.name)
      }
      // At its end no range is open: one that was read before a change cannot follow the pass that reads the change.
      for await (const batch of interleave(next, WIDTH)) yield out.batch(batch)
      if (changes.size() > changedMax) yield* passOver(db, changes, out, steps)
      else out.nextPass()
    }
    // What changed long ago is read in passes: the store keeps a snapshot for some minutes only.
    if (since !== undefined) await changes.passed((await steps.endMoment(db)).time)
    for (let pass = 0; pass < PASSES_MAX && changes.size() > LAST_PASS_MAX; pass += 1)
      yield* passOver(db, changes, out, steps)
    const counted = since === undefined ? names : []
    const { end, counts } = yield* lastPass(db, { names: counted, changes, out, steps })
    if ((await schemaVersion(db)) !== version)
      throw new ChangesLost('the schema was migrated while it was read: take it again')
    const clusterTime: [number, number] = [end.time.getHighBitsUnsigned(), end.time.getLowBitsUnsigned()]
    yield out.control({ t: 'finish', takenAt: end.at.toISOString(), clusterTime, collections: out.sums(names, counts) })
    const found = await unknownCollections(db)
    onEnd({ takenAt: end.at, counts: withoutNulls(counts), changed: out.changed(), ignored: found })
  } finally {
    await changes.close()
  }
}

async function* documentsOf(source: AsyncGenerator<readonly Buffer[]>, name: string): AsyncGenerator<DocumentBatch> {
  for await (const documents of source) yield { name, documents, gone: [] }
}

/** The ranges of all collections, the longest collections first, so that none of them is read alone at the end. */
async function allRanges(db: Database, names: readonly string[], steps: BackupSteps): Promise<IdRange[]> {
  const native = db.connection.getClient().db(db.name)
  const sizes = await Promise.all(
    names.map(async (name) => ({ name, documents: await native.collection(name).estimatedDocumentCount() })),
  )
  const ranges: IdRange[] = []
  for (const { name, documents } of sizes.toSorted((one, other) => other.documents - one.documents))
    ranges.push(...(await steps.rangesOf(db, name, documents)))
  return ranges
}

/** Reads once more what changed until now. What changes during that is held for the next pass. */
async function* passOver(
  db: Database,
  changes: ChangeCollector,
  out: ArchiveWriter,
  steps: BackupSteps,
): AsyncGenerator<Buffer> {
  out.nextPass()
  const changed = changes.take()
  const moment = { level: 'majority', afterClusterTime: changes.newest() } as const
  for await (const batch of steps.readChanged(db, changed, moment)) yield out.batch(batch, true)
  out.nextPass()
}

interface LastPass {
  readonly names: readonly string[]
  readonly changes: ChangeCollector
  readonly out: ArchiveWriter
  readonly steps: BackupSteps
}

/**
 * Reads what changed since the last pass as of one moment. When the store cannot read that moment (a collection was just created, or the
 * reading took longer than it keeps snapshots), a later moment is tried: what was read for the first stays valid as an earlier pass.
 */
async function* lastPass(
  db: Database,
  { names, changes, out, steps }: LastPass,
): AsyncGenerator<Buffer, { readonly end: BackupMoment; readonly counts: StoredCounts }> {
  const pending = new Map<string, Set<string>>()
  for (let attempt = 1; ; attempt += 1) {
    try {
      const end = await steps.endMoment(db)
      await changes.passed(end.time)
      for (const [name, ids] of changes.take()) pending.set(name, new Set([...(pending.get(name) ?? []), ...ids]))
      out.nextPass()
      const moment = { level: 'snapshot', atClusterTime: end.time } as const
      for await (const batch of steps.readChanged(db, pending, moment)) yield out.batch(batch, true)
      return { end, counts: await countAt(db, names, end.time) }
    } catch (error) {
      const code = error instanceof mongoose.mongo.MongoServerError ? error.code : undefined
      if (!(LATER_MOMENT.has(code) || isPassing(error)) || attempt === ATTEMPTS) throw error
      await wait(500)
    }
  }
}

const withoutNulls = (counts: StoredCounts): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).flatMap(([name, count]) => (count === null ? [] : [[name, count]])))

async function unknownCollections(db: Database): Promise<readonly string[]> {
  const found = await db.connection.getClient().db(db.name).listCollections({}, { nameOnly: true }).toArray()
  const known = new Set(MODELS.map(({ name }) => name))
  return found.map(({ name }) => name).filter((name) => !known.has(name) && !name.startsWith('system.'))
}

/**
 * Results of several generators as they come, `width` of them at a time, each at most one result ahead. `next` gives the generator to
 * start; null means that none may start now, and ends the whole once those that run have ended. The first error ends all.
 */
async function* interleave<T>(next: () => AsyncGenerator<T> | null, width: number): AsyncGenerator<T> {
  const active = new Map<AsyncGenerator<T>, Promise<Step<T>>>()
  const advance = (source: AsyncGenerator<T>): void => {
    const step = source.next().then((result) => ({ source, result }))
    // A failure is thrown by the race below, or the whole has ended already.
    step.catch(() => undefined)
    active.set(source, step)
  }
  try {
    for (;;) {
      while (active.size < width) {
        const source = next()
        if (source === null) break
        advance(source)
      }
      if (active.size === 0) return
      const { source, result } = await Promise.race(active.values())
      if (result.done === true) active.delete(source)
      else {
        advance(source)
        yield result.value
      }
    }
  } finally {
    await Promise.allSettled([...active.keys()].map((source) => source.return(undefined)))
  }
}

interface Step<T> {
  readonly source: AsyncGenerator<T>
  readonly result: IteratorResult<T, unknown>
}

/** Ids of one query; with documents of some kilobytes, a batch of less than a megabyte. */
const IDS = 200

/** Changed documents of a collection: those that exist, as raw BSON, and the ids of those that do not. */
interface ChangedBatch {
  readonly name: string
  readonly documents: readonly Buffer[]
  readonly gone: readonly string[]
}

/** Reads documents by id, each once, as of `moment`. */
async function* readChanged(db: Database, changed: ChangedIds, moment: ReadMoment): AsyncGenerator<ChangedBatch> {
  for (const [name, all] of changed) {
    const ids = [...all]
    for (let from = 0; from < ids.length; from += IDS) {
      yield* persist(() => readIds(db, name, ids.slice(from, from + IDS), moment))
    }
  }
}

async function* readIds(
  db: Database,
  name: string,
  ids: readonly string[],
  moment: ReadMoment,
): AsyncGenerator<ChangedBatch> {
  const documents: Buffer[] = []
  const gone = new Set(ids)
  const command = { find: name, filter: { _id: { $in: [...ids] } }, hint: { _id: 1 }, batchSize: IDS }
  for await (const document of readRaw(db, command, moment)) {
    documents.push(document)
    gone.delete(idOf(document))
  }
  yield { name, documents, gone: [...gone] }
}

function idOf(document: Buffer): string {
  const { _id } = mongoose.mongo.BSON.deserialize(document)
  if (typeof _id !== 'string') throw new Error('the _id of a document is not a text')
  return _id
}

/**
 * Exact number of documents of each collection at a moment, from the `_id` index (about a million a second). Null from the collection on at which
 * the store no longer keeps that moment.
 */
async function countAt(
  db: Database,
  names: readonly string[],
  moment: mongoose.mongo.Timestamp,
): Promise<Readonly<Record<string, number | null>>> {
  const counts: Record<string, number | null> = {}
  let isTooOld = false
  for (const name of names) {
    counts[name] = null
    if (isTooOld) continue
    try {
      counts[name] = await countOne(db, name, moment)
    } catch (error) {
      if (!(error instanceof mongoose.mongo.MongoServerError) || error.code !== SNAPSHOT_TOO_OLD) throw error
      isTooOld = true
    }
  }
  return counts
}

async function countOne(db: Database, name: string, moment: mongoose.mongo.Timestamp): Promise<number> {
  const command = {
    aggregate: name,
    pipeline: [{ $group: { _id: null, n: { $sum: 1 } } }],
    hint: { _id: 1 },
    cursor: {},
  }
  const count = () => readRaw(db, command, { level: 'snapshot', atClusterTime: moment })
  for await (const row of persist(count)) return Number(mongoose.mongo.BSON.deserialize(row)['n'])
  return 0
}

/** Part of a collection: ids from `min` on (included) up to `max` (excluded), in the order of the `_id` index; absent: no bound. */
interface IdRange {
  readonly name: string
  readonly min?: unknown
  readonly max?: unknown
}

/**
 * Ranges that together contain every possible `_id` once, of about equally many documents. The bounds are sampled; correctness does not
 * depend on them.
 */
async function rangesOf(db: Database, name: string, documents: number): Promise<readonly IdRange[]> {
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
async function* readRange(
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
