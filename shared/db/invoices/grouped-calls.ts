import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { NewInvoice } from '#shared/ports/invoices.ts'
import { invoiceFromDocument, invoiceToDocument } from './invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'
import type { InvoiceRepository } from './invoice-repository.ts'

/** Most keys in one read. */
const LOOKUP_MAX = 200

/** How many are read at once, and how results are matched to keys: equal texts belong together. */
interface BatchRead<K, T> {
  readonly findMany: (keys: readonly K[]) => Promise<readonly T[]>
  readonly nameOfKey: (key: K) => string
  readonly nameOfItem: (item: T) => string
}

/**
 * Turns a read of many into a look-up of one: keys requested in one turn of the event loop, or while a read runs, share
 * the next read. The read always starts after the request, so no result is older than with a separate read, and
 * batching adds at most one read of latency. Null for keys that were not found.
 */
function createBatchLookup<K, T>(read: BatchRead<K, T>): (key: K) => Promise<T | null> {
  interface Waiter {
    readonly key: K
    readonly resolve: (found: T | null) => void
    readonly reject: (error: unknown) => void
  }
  const waiting: Waiter[] = []
  let running = false

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, LOOKUP_MAX)
      try {
        const keys = new Map(batch.map(({ key }) => [read.nameOfKey(key), key]))
        const items = await read.findMany([...keys.values()])
        const found = new Map(items.map((item) => [read.nameOfItem(item), item]))
        for (const { key, resolve } of batch) resolve(found.get(read.nameOfKey(key)) ?? null)
      } catch (error) {
        for (const waiter of batch) waiter.reject(error)
      }
    }
    running = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (running) return
      running = true
      setImmediate(drain)
    })
}

/** A look-up of one record by the text in its field `field`, which is unique, through a read of many. */
export function createLookup<const F extends string, T extends { readonly [K in F]: string }>(
  field: F,
  findMany: BatchRead<string, T>['findMany'],
): (value: string) => Promise<T | null> {
  return createBatchLookup({ findMany, nameOfKey: String, nameOfItem: (item) => item[field] })
}

type Insert = InvoiceRepository['insert']
type Outcome = Awaited<ReturnType<Insert>>

/** Most invoices in one command. */
const BATCH_MAX = 64
/** Concurrent commands; more of them would only make the groups smaller. */
const IN_FLIGHT_MAX = 2

interface PendingInsert {
  readonly invoice: NewInvoice
  readonly document: InvoiceDocument
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Concurrent inserts of one process are sent as one unordered insert command: each document is still
 * inserted or refused individually and acknowledged under the same concerns, for a fraction of the cost. A lone insert
 * waits only for its own turn of the event loop. A document that a unique index refused is retried alone by `insertOne`, which names the index.
 */
export function createGroupedInsert(db: Database, insertOne: Insert): Insert {
  const invoices = db.collection(INVOICES)
  const waiting: PendingInsert[] = []
  let inFlight = 0
  let scheduled = false

  async function send(batch: readonly PendingInsert[]): Promise<void> {
    if (batch.length === 1) return alone(batch)
    try {
      await invoices.insertMany(
        batch.map(({ document }) => document),
        { ordered: false },
      )
      for (const { resolve } of batch) resolve({ inserted: true })
    } catch (error) {
      const refused = bulkDuplicates(error)
      if (refused !== null) {
        for (const [index, { resolve }] of batch.entries()) if (!refused.includes(index)) resolve({ inserted: true })
        return alone(batch.filter((_, index) => refused.includes(index)))
      }
      // The driver refused to send the command: the others must not suffer from one bad document.
      if (!(error instanceof mongoose.mongo.MongoError)) return alone(batch, asOurs)
      for (const { reject } of batch) reject(error)
    }
  }

  async function alone(batch: readonly PendingInsert[], read = (outcome: Outcome) => outcome): Promise<void> {
    await Promise.all(
      batch.map(({ invoice, resolve, reject }) => insertOne(invoice).then((outcome) => resolve(read(outcome)), reject)),
    )
  }

  async function drain(): Promise<void> {
    scheduled = false
    inFlight += 1
    while (waiting.length > 0) await send(waiting.splice(0, BATCH_MAX))
    inFlight -= 1
  }

  return (invoice) =>
    new Promise((resolve, reject) => {
      waiting.push({ invoice, document: invoiceToDocument(invoice), resolve, reject })
      if (scheduled || inFlight >= IN_FLIGHT_MAX) return
      // At the end of this turn of the event loop all concurrent callers are included.
      scheduled = true
      setImmediate(drain)
    })
}

/** An id that is taken right after a failure was inserted by the failed command: ids are random. */
function asOurs(outcome: Outcome): Outcome {
  return !outcome.inserted && outcome.conflict === 'id' ? { inserted: true } : outcome
}

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
  readonly id: string
}

/**
 * Concurrent reads of one process are sent as one find command. Each result is as fresh as that of a separate
 * read, because the command starts after the request, and is returned only to the caller with its workspace and mode.
 */
export function createGroupedFind(db: Database): InvoiceRepository['findInWorkspace'] {
  const invoices = db.collection(INVOICES)
  const lookup = createBatchLookup<Place, InvoiceDocument>({
    findMany: (places) =>
      invoices
        .find({
          _id: { $in: places.map(({ id }) => id) },
          workspaceId: { $in: distinct(places.map(({ workspaceId }) => workspaceId)) },
          mode: { $in: distinct(places.map(({ mode }) => mode)) },
        })
        .toArray(),
    // The filter is wider than its requests when two workspaces share it; these names keep them apart.
    nameOfKey: ({ workspaceId, mode, id }) => `${workspaceId} ${mode} ${id}`,
    nameOfItem: ({ workspaceId, mode, _id }) => `${workspaceId} ${mode} ${_id}`,
  })
  return async (workspaceId, mode, id) => {
    const stored = await lookup({ workspaceId, mode, id })
    // Here and not in the shared read: one unreadable document must not fail the others.
    return stored === null ? null : invoiceFromDocument(stored)
  }
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
