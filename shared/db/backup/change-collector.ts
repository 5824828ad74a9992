import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'

/** How long the store waits for a change before it answers that there is none. */
const AWAIT_MS = 100
const BATCH = 1_000
/** With this many ids that nobody took, reading pauses: the store's oplog holds the rest. About 100 bytes each. */
const HELD_MAX = 1_000_000
/** `ChangeStreamHistoryLost`, `CappedPositionLost`, `ChangeStreamFatalError` (src/mongo/base/error_codes.yml of MongoDB). */
const LOST = new Set<unknown>([286, 136, 280])
/** Changes of documents; every other kind of change that this stream reads ends a back-up. */
const OF_DOCUMENTS = new Set(['insert', 'update', 'replace', 'delete'])

/** What changed since a moment cannot be read any more: all must be read again. */
export class ChangesLost extends Error {
  override readonly name = 'ChangesLost'
}

/** Ids of changed documents by collection. */
export type ChangedIds = ReadonlyMap<string, ReadonlySet<string>>

/** Collects the ids of documents that change, from a moment on. */
export type ChangeCollector = ReturnType<typeof collectChanges>

interface Change {
  readonly operationType: string
  readonly clusterTime?: mongoose.mongo.Timestamp
  readonly ns?: { readonly coll?: string }
  readonly documentKey?: { readonly _id: unknown }
}

/**
 * Reads the change stream of the database from `from` on, a cluster time of the store: every write at or after it to one of these
 * collections is seen, in order, however late the stream is opened, as long as the oplog reaches back to it. Contents are not read,
 * only ids, so that neither size nor age of a change matters. An election or a lost connection is bridged by the driver.
 */
export function collectChanges(db: Database, names: readonly string[], from: mongoose.mongo.Timestamp) {
  const stream = openStream(db, names, from)
  const waiters = createWaiters()
  let held = new Map<string, Set<string>>()
  let size = 0
  let newest = from
  let failure: Error | null = null
  let isClosed = false
  let goOn: () => void = () => undefined

  const hold = (change: Change): void => {
    const { name, id } = documentOfChange(change, names)
    const ids = held.get(name) ?? new Set()
    held.set(name, ids)
    if (!ids.has(id)) size += 1
    ids.add(id)
  }
  const room = async (): Promise<void> => {
    while (size >= HELD_MAX && !waiters.any() && !isClosed) {
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
    }
  }
  const read = async (): Promise<void> => {
    try {
      while (!isClosed) {
        const change = await stream.tryNext()
        if (change === null) continue
        hold(change)
        if (change.clusterTime?.greaterThan(newest)) newest = change.clusterTime
        waiters.reached(newest)
        await room()
      }
    } catch (error) {
      if (isClosed) return
      failure = LOST.has(codeOf(error)) ? tooFew(error) : asError(error)
      waiters.failed(failure)
    }
  }
  const reading = read()
  const requireStream = (): void => {
    if (failure !== null) throw failure
  }

  return {
    /** Number of ids held: changed since the last `take`, each counted once. Throws when the stream was lost. */
    size: () => {
      requireStream()
      return size
    },
    /** Cluster time of the newest change that was read, at least the moment at which the collection began. */
    newest: () => newest,
    /** All ids held; they are then no longer held. A document that changes later is held again. Throws when the stream was lost. */
    take: () => {
      requireStream()
      const taken = held
      held = new Map()
      size = 0
      goOn()
      return taken
    },
    /** Resolves when every change up to and including this moment is held or was taken. Rejects when the stream was lost. */
    passed: async (moment: mongoose.mongo.Timestamp) => {
      requireStream()
      if (newest.greaterThanOrEqual(moment)) return
      const passing = waiters.add(moment)
      goOn()
      await passing
    },
    close: async () => {
      isClosed = true
      goOn()
      await stream.close()
      await reading
    },
  }
}

function openStream(db: Database, names: readonly string[], from: mongoose.mongo.Timestamp) {
  const native = db.connection.getClient().db(db.name)
  return native.watch<mongoose.mongo.Document, Change & mongoose.mongo.Document>(
    [
      {
        $match: {
          $or: [{ 'ns.coll': { $in: [...names] } }, { operationType: { $in: ['dropDatabase', 'invalidate'] } }],
        },
      },
      { $project: { _id: 1, operationType: 1, clusterTime: 1, ns: 1, documentKey: 1 } },
    ],
    { startAtOperationTime: from, maxAwaitTimeMS: AWAIT_MS, batchSize: BATCH },
  )
}

/** The document that a change is about. Throws when it is about a whole collection or database. */
function documentOfChange(change: Change, names: readonly string[]): { readonly name: string; readonly id: string } {
  const name = change.ns?.coll ?? ''
  if (!OF_DOCUMENTS.has(change.operationType) || !names.includes(name)) {
    const place = name === '' ? 'the database' : name
    throw new ChangesLost(`the back-up ended: "${change.operationType}" on ${place} while it was read`)
  }
  const id = change.documentKey?._id
  if (typeof id !== 'string') throw new Error(`the _id of a document of ${name} is not a text`)
  return { name, id }
}

interface Waiter {
  readonly moment: mongoose.mongo.Timestamp
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Callers that wait until the stream has passed a moment. */
function createWaiters() {
  let waiting: readonly Waiter[] = []
  return {
    any: (): boolean => waiting.length > 0,
    add: (moment: mongoose.mongo.Timestamp): Promise<void> =>
      new Promise((resolve, reject) => {
        waiting = [...waiting, { moment, resolve, reject }]
      }),
    reached: (newest: mongoose.mongo.Timestamp): void => {
      if (waiting.length === 0) return
      for (const { moment, resolve } of waiting) if (newest.greaterThanOrEqual(moment)) resolve()
      waiting = waiting.filter(({ moment }) => !newest.greaterThanOrEqual(moment))
    },
    failed: (error: Error): void => {
      for (const { reject } of waiting) reject(error)
      waiting = []
    },
  }
}

const codeOf = (error: unknown): unknown => (error instanceof mongoose.mongo.MongoServerError ? error.code : undefined)
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

function tooFew(cause: unknown): Error {
  return new ChangesLost(
    'The store no longer holds all changes made since the back-up began: its oplog is too small for the writes of that time. Enlarge it (replSetResizeOplog), or back up at a quieter time.',
    { cause },
  )
}
