import { copyDocument, type Doc, unsupported } from './bson-values.ts'
import { serverError } from './driver-errors.ts'
import type { Execute } from './execute.ts'
import type { MemoryStore } from './memory-store.ts'
import { aggregate, count, distinct, type FindShape, find } from './reads.ts'
import { refuseOtherOptions, refuseOthers } from './refuse-others.ts'
import type { SimulatedSession } from './simulated-session.ts'
import type { StoredCollection } from './stored-collection.ts'
import type { Update } from './update.ts'
import { type BulkStep, bulk, copyUpdate, findOne, findOneAndUpdate, insert, remove, update } from './writes.ts'

const BAD_VALUE = 2

interface Options {
  readonly session?: SimulatedSession
  readonly upsert?: boolean
  readonly ordered?: boolean
  readonly projection?: Doc
  readonly sort?: Doc
  readonly limit?: number
  readonly hint?: string
  readonly returnDocument?: 'before' | 'after'
  readonly batchSize?: number
  readonly readConcern?: { readonly level: string }
  readonly writeConcern?: { readonly w: number }
}

/** Runs one operation of a collection: inside the session's transaction when there is one. `upTo` limits its steps. */
type Run = <T>(
  kind: 'read' | 'write',
  name: string,
  options: Options | undefined,
  work: (now: Date, upTo: number) => T,
  steps?: number | null,
) => Promise<T>

/** The driver's collection as the repositories use it; everything else throws an error with its name. */
export function createSimulatedCollection(store: MemoryStore, exec: Execute, name: string) {
  const stored = store.collection(name)
  const run: Run = (kind, method, options, work, steps = 1) =>
    exec(
      { kind, collection: name, name: method, steps, isNewest: isNewest(options) },
      (upTo = Number.POSITIVE_INFINITY) => {
        const transaction = options?.session?.transaction ?? null
        const now = store.now()
        if (transaction !== null) return transaction.run(() => work(now, upTo))
        // A linearizable read waits until the majority has everything written before it.
        if (isNewest(options)) store.catchUp()
        // Everything else the product reads, it reads at majority.
        return kind === 'read' ? store.asCommitted(() => work(now, upTo)) : work(now, upTo)
      },
    )
  return refuseOthers('Collection', {
    collectionName: name,
    ...reads(stored, store, run),
    ...writes(stored, run),
    ...bulks(stored, run),
    ...indexes(stored),
  })
}

/** Whether an operation cannot be answered by a primary that is none any more: that would refuse its commit, or confirm nothing. */
const isNewest = (options: Options | undefined): boolean =>
  options?.readConcern?.level === 'linearizable' || (options?.session?.transaction ?? null) !== null

function checkHint(stored: StoredCollection, { hint }: Options): void {
  if (hint !== undefined && !stored.definitions.some((index) => index.name === hint)) {
    throw serverError(BAD_VALUE, `hint ${hint} does not correspond to an existing index of ${stored.name}`)
  }
}

function reads(stored: StoredCollection, { collection }: Pick<MemoryStore, 'collection'>, run: Run) {
  return {
    findOne: async (filter: Doc = {}, options: Options = {}) => {
      refuseOtherOptions('findOne', options, ['session', 'projection', 'sort', 'hint', 'readConcern', 'maxTimeMS'])
      checkHint(stored, options)
      const copied = copyDocument(filter)
      return run('read', 'findOne', options, (now) => findOne(stored, copied, options, now))
    },
    find: (filter: Doc = {}, options: Options = {}) => {
      refuseOtherOptions('find', options, [
        'session',
        'projection',
        'sort',
        'limit',
        'hint',
        'batchSize',
        'readConcern',
        'maxTimeMS',
      ])
      checkHint(stored, options)
      const copied = copyDocument(filter)
      return createCursor(options, (shape) => run('read', 'find', options, (now) => find(stored, copied, shape, now)))
    },
    countDocuments: async (filter: Doc = {}, options: Options = {}) => {
      refuseOtherOptions('countDocuments', options, ['session', 'limit', 'hint'])
      checkHint(stored, options)
      const copied = copyDocument(filter)
      return run('read', 'countDocuments', options, (now) => count(stored, copied, options.limit ?? 0, now))
    },
    distinct: async (field: string, filter: Doc = {}) => {
      const copied = copyDocument(filter)
      return run('read', 'distinct', undefined, (now) => distinct(stored, field, copied, now))
    },
    aggregate: (pipeline: readonly Doc[], options: Options = {}) => {
      refuseOtherOptions('aggregate', options, ['session', 'hint', 'maxTimeMS'])
      checkHint(stored, options)
      const copied = pipeline.map(copyDocument)
      return refuseOthers('AggregationCursor', {
        toArray: () => run('read', 'aggregate', options, (now) => aggregate(stored, copied, { now, collection })),
      })
    },
  }
}

/** A cursor that reads everything at once when the first document is asked for. */
function createCursor(options: FindShape, read: (shape: FindShape) => Promise<Record<string, unknown>[]>) {
  let shape = options
  const cursor = refuseOthers('FindCursor', {
    sort: (sort: Doc) => {
      shape = { ...shape, sort }
      return cursor
    },
    limit: (limit: number) => {
      shape = { ...shape, limit }
      return cursor
    },
    skip: (skip: number) => {
      shape = { ...shape, skip }
      return cursor
    },
    project: (projection: Doc) => {
      shape = { ...shape, projection }
      return cursor
    },
    batchSize: () => cursor,
    toArray: () => read(shape),
    async *[Symbol.asyncIterator]() {
      yield* await read(shape)
    },
  })
  return cursor
}

function writes(stored: StoredCollection, run: Run) {
  const change =
    (method: string, many: boolean) =>
    async (filter: Doc, by: Update, options: Options = {}) => {
      refuseOtherOptions(method, options, ['session', 'upsert', 'hint'])
      checkHint(stored, options)
      const step = { filter: copyDocument(filter), update: copyUpdate(by), upsert: options.upsert === true, many }
      const steps = many ? null : 1
      return run('write', method, options, (now, upTo) => update(stored, step, now, upTo), steps)
    }
  const drop =
    (method: string, many: boolean) =>
    async (filter: Doc, options: Options = {}) => {
      refuseOtherOptions(method, options, ['session', 'hint'])
      checkHint(stored, options)
      const copied = copyDocument(filter)
      const deleted = (now: Date, upTo: number) => ({
        acknowledged: true,
        deletedCount: remove(stored, copied, many, now, upTo),
      })
      return run('write', method, options, deleted, many ? null : 1)
    }
  return {
    updateOne: change('updateOne', false),
    updateMany: change('updateMany', true),
    deleteOne: drop('deleteOne', false),
    deleteMany: drop('deleteMany', true),
    findOneAndUpdate: async (filter: Doc, by: Update, options: Options = {}) => {
      refuseOtherOptions('findOneAndUpdate', options, ['session', 'projection', 'returnDocument', 'hint'])
      checkHint(stored, options)
      const copied = copyDocument(filter)
      const copiedUpdate = copyUpdate(by)
      const shape = { ...options, after: options.returnDocument === 'after' }
      return run('write', 'findOneAndUpdate', options, (now) =>
        findOneAndUpdate(stored, copied, copiedUpdate, shape, now),
      )
    },
  }
}

function bulks(stored: StoredCollection, run: Run) {
  return {
    insertOne: async (document: Doc, options: Options = {}) => {
      refuseOtherOptions('insertOne', options, ['session'])
      const copied = copyDocument(document)
      return run('write', 'insertOne', options, () => {
        insert(stored, copied)
        return { acknowledged: true, insertedId: copied['_id'] }
      })
    },
    insertMany: async (documents: readonly Doc[], options: Options = {}) => {
      refuseOtherOptions('insertMany', options, ['session', 'ordered'])
      const steps = documents.map((document): BulkStep => ({ kind: 'insert', document: copyDocument(document) }))
      const work = (now: Date, upTo: number) => {
        const { insertedCount, insertedIds } = bulk(stored, steps, options.ordered !== false, now, upTo)
        return { acknowledged: true, insertedCount, insertedIds }
      }
      return run('write', 'insertMany', options, work, steps.length)
    },
    bulkWrite: async (operations: readonly Doc[], options: Options = {}) => {
      // A write that waits for fewer than a majority is held back and lost like any other here.
      refuseOtherOptions('bulkWrite', options, ['session', 'ordered', 'writeConcern'])
      for (const operation of operations) for (const one of Object.values(operation)) checkHint(stored, one as Options)
      const steps = operations.map(stepOf)
      const work = (now: Date, upTo: number) => bulk(stored, steps, options.ordered !== false, now, upTo)
      return run('write', 'bulkWrite', options, work, steps.length)
    },
  }
}

/** Names of the implemented operations of `bulkWrite`. */
export const BULK_OPERATIONS: readonly string[] = ['insertOne', 'updateOne', 'updateMany', 'deleteOne', 'deleteMany']

function stepOf(operation: Doc): BulkStep {
  const [kind = ''] = Object.keys(operation)
  const { filter, update: by, upsert, document } = operation[kind] as Readonly<Record<string, unknown>>
  if (!BULK_OPERATIONS.includes(kind)) throw unsupported(`bulk operation ${kind}`)
  if (kind === 'insertOne') return { kind: 'insert', document: copyDocument(document as Doc) }
  const copied = copyDocument(filter as Doc)
  const many = kind.endsWith('Many')
  if (kind.startsWith('delete')) return { kind: 'delete', filter: copied, many }
  return { kind: 'update', filter: copied, update: copyUpdate(by as Update), upsert: upsert === true, many }
}

/** All indexes stand from the beginning: creating one again changes nothing. */
function indexes(stored: StoredCollection) {
  return {
    createIndexes: async () => stored.definitions.map(({ name }) => name),
    listIndexes: () => ({
      toArray: async () => [
        { v: 2, key: { _id: 1 }, name: '_id_' },
        ...stored.definitions.map((index) => ({ v: 2, ...index })),
      ],
    }),
  }
}
