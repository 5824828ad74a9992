import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { ID_TIME_SLACK_MS, uuidFloor } from '#shared/db/connection/uuid-time.ts'
import {
  ClaimTaken,
  type Invoice,
  type InvoiceChange,
  type InvoiceConflict,
  type InvoiceListQuery,
  type InvoiceRepository,
  OUTBOX_SHARDS,
} from '#shared/ports/invoices.ts'
import { invoiceClaims } from './invoice-claims.ts'
import {
  claimsOf,
  drawsOf,
  idempotencyFromDocument,
  invoiceFromDocument,
  invoiceToDocument,
  outboxToDocuments,
  releaseTimeOf,
  stateToDocument,
} from './invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'
import { numberFloor } from './invoice-number-floor.ts'

type Invoices = mongoose.mongo.Collection<InvoiceDocument>
type Filter = mongoose.mongo.Filter<InvoiceDocument>
type Update = mongoose.mongo.UpdateFilter<InvoiceDocument>

/** Operation ids kept per invoice; a lost answer is retried within far fewer mutations. */
const LAST_OPS = 8

/**
 * Invoices on MongoDB. A create is one insert and a change is one compare-and-set, each carrying state, claims and outbox
 * together; nothing here replaces a document or reads before it writes.
 */
export function createInvoiceRepository(db: Database): InvoiceRepository {
  const invoices = db.collection(INVOICES)
  return {
    insert: async (invoice) => {
      try {
        await invoices.insertOne(invoiceToDocument(invoice))
        return { inserted: true }
      } catch (error) {
        return { inserted: false, conflict: conflictOf(error) }
      }
    },
    save: (change) => save(invoices, change),
    ...invoiceClaims(invoices),
    list: async (query) =>
      (await invoices.find(listFilter(query)).sort({ _id: -1 }).limit(query.limit).toArray()).map(invoiceFromDocument),
    ...lookups(db, invoices),
    ...outbox(invoices),
  }
}

function conflictOf(error: unknown): InvoiceConflict {
  const fields = duplicateKeyFields(error)
  if (fields === null) throw error
  if (fields.has('idem.key')) return 'idempotency_key'
  if (fields.has('number')) return 'number'
  if (fields.has('claims') || fields.has('draws')) return 'claims'
  return 'id'
}

async function save(invoices: Invoices, change: InvoiceChange): Promise<boolean> {
  const { state, append, op } = change
  const [first] = append
  const claims = claimsOf(state)
  const draws = drawsOf(state)
  const releaseAt = releaseTimeOf(state)
  const unset = {
    ...(state.nextActionAt === null && { nextActionAt: '' as const }),
    ...(draws.length === 0 && state.locks.some((lock) => lock.draws !== undefined) && { draws: '' as const }),
    ...(releaseAt === null && state.locks.some(({ hold }) => hold !== undefined) && { releaseAt: '' as const }),
  }
  const update: Update = {
    $set: {
      ...stateToDocument(state),
      ...(state.nextActionAt !== null && { nextActionAt: toDate(state.nextActionAt) }),
      ...(releaseAt !== null && { releaseAt }),
      ...(draws.length > 0 && { draws }),
    },
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
    $push: {
      ...(first !== undefined && { outbox: { $each: outboxToDocuments(append) } }),
      ...(op !== null && { lastOps: { $each: [op], $slice: -LAST_OPS } }),
    },
    // $min sets the field when it is absent and keeps the older time when entries already wait.
    ...(first !== undefined && { $min: { outboxAt: toDate(first.at) } }),
    // Claims only ever grow here: an address once shown to a payer stays this invoice's until `releaseClaims` ends it.
    ...(claims.length > 0 && { $addToSet: { claims: { $each: claims } } }),
  }
  try {
    const result = await invoices.updateOne({ _id: change.id, version: change.expectedVersion }, update)
    return result.matchedCount === 1
  } catch (error) {
    const fields = duplicateKeyFields(error)
    if (fields?.has('draws')) throw new ClaimTaken('another invoice holds the place', { cause: error, isDraw: true })
    if (fields?.has('claims')) throw new ClaimTaken('another invoice holds the claim', { cause: error })
    throw error
  }
}

/** The filter of a list request; exported for the test that explains it. Creation bounds also bound the id range. */
export function listFilter(query: InvoiceListQuery): Filter {
  const id: Record<string, string> = {}
  if (query.createdAfter !== null) id['$gte'] = uuidFloor(query.createdAfter - ID_TIME_SLACK_MS)
  const until = query.createdBefore === null ? null : uuidFloor(query.createdBefore + ID_TIME_SLACK_MS)
  if (query.beforeId !== null || until !== null) {
    id['$lt'] = query.beforeId !== null && (until === null || query.beforeId < until) ? query.beforeId : (until ?? '')
  }
  return {
    workspaceId: query.workspaceId,
    mode: query.mode,
    ...(Object.keys(id).length > 0 && { _id: id }),
    ...(query.status !== null && { status: query.status }),
    ...(query.orderId !== null && { orderId: query.orderId }),
    ...((query.createdAfter !== null || query.createdBefore !== null) && {
      createdAt: {
        ...(query.createdAfter !== null && { $gt: toDate(query.createdAfter) }),
        ...(query.createdBefore !== null && { $lt: toDate(query.createdBefore) }),
      },
    }),
  }
}

function lookups(db: Database, invoices: Invoices) {
  const one = async (filter: Filter): Promise<Invoice | null> => {
    const stored = await invoices.findOne(filter)
    return stored === null ? null : invoiceFromDocument(stored)
  }
  return {
    findById: (id: string) => one({ _id: id }),
    findInWorkspace: ((workspaceId, mode, id) =>
      one({ _id: id, workspaceId, mode })) satisfies InvoiceRepository['findInWorkspace'],
    findByIdempotencyKey: (async (workspaceId, mode, key) => {
      const stored = await invoices.findOne({ workspaceId, mode, 'idem.key': key })
      return stored?.idem === undefined
        ? null
        : { invoice: invoiceFromDocument(stored), idempotency: idempotencyFromDocument(stored.idem) }
    }) satisfies InvoiceRepository['findByIdempotencyKey'],
    releaseIdempotencyKey: (async (invoiceId, guard) => {
      const result = await invoices.updateOne(
        { _id: invoiceId, 'idem.key': guard.key, 'idem.at': toDate(guard.at) },
        { $unset: { idem: '' } },
      )
      return result.modifiedCount === 1
    }) satisfies InvoiceRepository['releaseIdempotencyKey'],
    highestNumber: (async (workspaceId, mode) => {
      const [last, floor] = await Promise.all([
        invoices.findOne({ workspaceId, mode }, { sort: { number: -1 }, projection: { number: 1 } }),
        numberFloor(db, workspaceId, mode),
      ])
      return Math.max(last?.number ?? 0, floor)
    }) satisfies InvoiceRepository['highestNumber'],
    countCreatedSince: ((workspaceId, mode, since, source) =>
      invoices.countDocuments({
        workspaceId,
        mode,
        ...(source !== undefined && { source }),
        _id: { $gte: uuidFloor(since - ID_TIME_SLACK_MS) },
        createdAt: { $gte: toDate(since) },
      })) satisfies InvoiceRepository['countCreatedSince'],
    dueForAction: (async (actionChain, until, limit, skip = 0) => {
      const oldestFirst = invoices
        .find({ actionChain, nextActionAt: { $lte: toDate(until) } }, { projection: { _id: 1 } })
        .sort({ nextActionAt: 1 })
      const due = await oldestFirst.skip(skip).limit(limit).toArray()
      return due.map((row) => row._id)
    }) satisfies InvoiceRepository['dueForAction'],
    countDueUnpaid: ((actionChain, until, max) =>
      invoices.countDocuments(
        { actionChain, nextActionAt: { $lte: toDate(until) }, status: { $in: ['pending', 'partial'] } },
        { hint: 'invoice_next_action', limit: max },
      )) satisfies InvoiceRepository['countDueUnpaid'],
  }
}

function outbox(invoices: Invoices) {
  return {
    outboxBatch: (async (shards, limit, from) => {
      const outboxAt = { $exists: true, ...(from !== null && { $gte: toDate(from) }) }
      const waiting = await invoices
        .find({ outboxShard: { $in: [...shards] }, outboxAt })
        .sort({ outboxAt: 1 })
        .limit(limit)
        .toArray()
      return waiting.map(invoiceFromDocument)
    }) satisfies InvoiceRepository['outboxBatch'],
    overdueOutboxShards: (async (before) => {
      const shards = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard)
      const oldest = await Promise.all(
        shards.map((outboxShard) =>
          invoices.findOne({ outboxShard, outboxAt: { $lte: toDate(before) } }, { projection: { _id: 1 } }),
        ),
      )
      return shards.filter((shard) => oldest[shard] !== null)
    }) satisfies InvoiceRepository['overdueOutboxShards'],
    trimOutbox: (async (trims) => {
      if (trims.length === 0) return
      const idsBySeq = new Map<number, string[]>()
      for (const { id, throughSeq } of trims) idsBySeq.set(throughSeq, [...(idsBySeq.get(throughSeq) ?? []), id])
      // Most outboxes of a batch end with the same number, and one write costs the store far more than one row.
      const operations = [...idsBySeq].map(([throughSeq, ids]) => ({
        updateMany: { filter: { _id: { $in: ids } }, update: trimPipeline(throughSeq) },
      }))
      await invoices.bulkWrite(operations, { ordered: false })
    }) satisfies InvoiceRepository['trimOutbox'],
  }
}

/** Touches neither version nor updatedAt: relaying is no change of the invoice, and a concurrent change must not lose its race to it. */
const trimPipeline = (throughSeq: number) => [
  { $set: { outbox: { $filter: { input: '$outbox', cond: { $gt: ['$$this.seq', throughSeq] } } } } },
  { $set: { outboxAt: { $ifNull: [{ $first: '$outbox.at' }, '$$REMOVE'] } } },
]
