import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import { type InvoiceState, type Ms, type PriorHold, WATCH_PLACE } from '#shared/domain/invoice/model.ts'
import { heldFor } from '#shared/domain/invoice/quote-window.ts'
import {
  type ClaimHolder,
  ClaimTaken,
  type Invoice,
  type InvoiceChange,
  type InvoiceConflict,
  type InvoiceIdempotency,
  type InvoiceListQuery,
  type NewInvoice,
  OUTBOX_SHARDS,
  type OutboxBatch,
  type ReleaseMark,
} from '#shared/ports/invoices.ts'
import * as scopes from './invoice-mapping.ts'
import {
  claimsOf,
  drawsOf,
  holdingClaims,
  invoiceFromDocument,
  invoiceToDocument,
  mayHaveDrawn,
  releaseTimeOf,
  returnedOf,
  stateToDocument,
} from './invoice-mapping.ts'
import { INVOICE_METHOD, INVOICE_OUTBOX, INVOICES, type InvoiceDocument } from './invoice-model.ts'
import { lastIssuedNumber } from './last-issued-number.ts'
import { watchQuestions } from './watched-methods.ts'

type Filter = mongoose.mongo.Filter<InvoiceDocument>
type Update = mongoose.mongo.UpdateFilter<InvoiceDocument>

/** Operation ids kept per invoice; a lost response is retried within far fewer changes. */
const LAST_OPS = 8

/**
 * Invoices on MongoDB. A create is one insert and a change is one compare-and-set, each carrying state, claims and outbox
 * together; nothing here replaces a document or reads before it writes.
 */
export function createInvoiceRepository(db: Database) {
  const invoices = db.collection(INVOICES)
  const one = async (filter: Filter): Promise<Invoice | null> => {
    const stored = await invoices.findOne(filter)
    return stored === null ? null : invoiceFromDocument(stored)
  }
  /** Whose money a transfer is must not be decided by the past: nothing corrects it later. */
  const holders = async (filter: Filter, most: number): Promise<readonly ClaimHolder[]> => {
    const projection = { workspaceId: 1, number: 1, paymentMethods: 1 }
    const found = await invoices.find(filter, { ...NEWEST, projection, batchSize: most + 1 }).toArray()
    return found.map(({ _id, workspaceId, number, paymentMethods }) => {
      return { invoiceId: _id, workspaceId, number, paymentMethods: paymentMethods.map(INVOICE_METHOD.toRecord) }
    })
  }
  /** Those of these claims that an invoice of the filter holds. */
  const heldAmong = async (claims: readonly string[], filter: Filter): Promise<ReadonlySet<string>> => {
    if (claims.length === 0) return new Set()
    const found = await invoices
      .find({ ...scopes.holdingClaims(claims), ...filter }, { projection: { _id: 0, claims: 1 } })
      .toArray()
    const taken = new Set(found.flatMap((row) => row.claims ?? []))
    return new Set(claims.filter((claim) => taken.has(claim)))
  }

  return {
    insert: async (
      invoice: NewInvoice,
    ): Promise<{ inserted: true } | { inserted: false; conflict: InvoiceConflict }> => {
      try {
        await invoices.insertOne(invoiceToDocument(invoice))
        return { inserted: true }
      } catch (error) {
        return { inserted: false, conflict: conflictOf(error) }
      }
    },
    /** True when saved; false when the version or `refundSeq` moved on (read again and decide again). Throws `ClaimTaken` on a claim conflict. */
    save: async (change: InvoiceChange): Promise<boolean> => {
      try {
        const held = { _id: change.id, version: change.expectedVersion, ...raisedTo(change.expectedRefundSeq) }
        const result = await invoices.updateOne(held, changeToUpdate(change))
        return result.matchedCount === 1
      } catch (error) {
        const fields = duplicateKeyFields(error)
        const options = { cause: error, isDraw: fields?.has('draws') === true }
        if (options.isDraw) throw new ClaimTaken('another invoice holds the place', options)
        if (fields?.has('claims')) throw new ClaimTaken('another invoice holds the claim', options)
        throw error
      }
    },

    /** Majority read; null when unknown. */
    findById: (id: string): Promise<Invoice | null> => one({ _id: id }),
    findInWorkspace: (workspaceId: string, mode: Mode, id: string): Promise<Invoice | null> =>
      one({ _id: id, workspaceId, mode }),
    findByIdempotencyKey: async (
      workspaceId: string,
      mode: Mode,
      key: string,
    ): Promise<{ invoice: Invoice; idempotency: InvoiceIdempotency } | null> => {
      const stored = await invoices.findOne(scopes.withIdempotencyKey(workspaceId, mode, key))
      return stored?.idem === undefined
        ? null
        : { invoice: invoiceFromDocument(stored), idempotency: { ...stored.idem, at: toMs(stored.idem.at) } }
    },
    /** Frees a key older than 24 h so that it can be used again; false when another process was faster. */
    releaseIdempotencyKey: async (invoiceId: string, { key, at }: InvoiceIdempotency): Promise<boolean> => {
      const held = { _id: invoiceId, 'idem.key': key, 'idem.at': toDate(at) }
      return (await invoices.updateOne(held, { $unset: { idem: '' } })).modifiedCount === 1
    },
    list: async (query: InvoiceListQuery): Promise<readonly Invoice[]> =>
      (await invoices.find(scopes.listed(query)).sort({ _id: -1 }).limit(query.limit).toArray()).map(
        invoiceFromDocument,
      ),
    /** Highest number in use, 0 when there is none. */
    highestNumber: async (workspaceId: string, mode: Mode): Promise<number> => {
      const [last, floor] = await Promise.all([
        invoices.findOne({ workspaceId, mode }, { sort: { number: -1 }, projection: { number: 1 } }),
        lastIssuedNumber(db, workspaceId, mode),
      ])
      return Math.max(last?.number ?? 0, floor)
    },

    /** Whether an invoice on one of these action chains has a deadline not later than `until`: one question for all chains. */
    isAnyDue: (actionChains: readonly string[], until: Ms): Promise<boolean> =>
      isAny(db, { of: INVOICES, filter: scopes.dueForActions(actionChains, until), hint: 'invoice_next_action' }),
    /** Ids of invoices with a due deadline on one action chain (`<mode>:<network>` or `none`), oldest first, without the first `skip`. */
    dueForAction: async (
      actionChain: string,
      until: Ms,
      limit: number,
      skip: number = 0,
    ): Promise<readonly string[]> => {
      const oldestFirst = invoices
        .find(scopes.dueForAction(actionChain, until), { projection: { _id: 1 } })
        .sort({ nextActionAt: 1 })
      const due = await oldestFirst.skip(skip).limit(limit).toArray()
      return due.map((row) => row._id)
    },
    /** Lists an invoice of this version under another action chain, until its next change; nothing happens to any other version. */
    waitForChain: async (id: string, version: number, actionChain: string): Promise<void> => {
      await invoices.updateOne({ _id: id, version, actionChain: { $ne: actionChain } }, { $set: { actionChain } })
    },
    /** How many invoices in `pending` or `partial` on this action chain have a deadline not later than `until`; counts up to `max`. */
    countDueUnpaid: (actionChain: string, until: Ms, max: number): Promise<number> =>
      invoices.countDocuments(
        { ...scopes.dueForAction(actionChain, until), status: { $in: ['pending', 'partial'] } },
        { hint: 'invoice_next_action', limit: max },
      ),

    /** The invoices that hold these claims now; each claim has at most one holder. Linearizable: rejects when no majority confirms it. */
    findByClaims: (claims: readonly string[]): Promise<readonly ClaimHolder[]> =>
      holders(scopes.holdingClaims(claims), claims.length),
    /** Invoices of a mode with a payment method, past or present, that carries one of these references. */
    findByReferences: (mode: Mode, references: readonly string[]): Promise<readonly ClaimHolder[]> =>
      holders(scopes.withReferences(mode, references), references.length),
    /** Those of these claims that exist already. */
    claimsTaken: (claims: readonly string[]): Promise<ReadonlySet<string>> => heldAmong(claims, {}),
    /** Those of these claims whose invoice is over and waits for late money no more at a time. */
    claimsCold: (claims: readonly string[], at: Ms): Promise<ReadonlySet<string>> => claimsCold(invoices, claims, at),
    /** Those of these claims whose invoice has live payments on its chain. */
    claimsPaid: (claims: readonly string[]): Promise<ReadonlySet<string>> => heldAmong(claims, scopes.paidOnChain),
    ...watchQuestions(db),
    /** Who returned these claims last, if the next holder gets only exact amounts beyond `at`; others are left out. */
    priorHolds: async (claims: readonly string[], at: Ms): Promise<ReadonlyMap<string, PriorHold>> => {
      if (claims.length === 0) return new Map()
      const found = await invoices
        .find(scopes.quarantining(claims, at), { projection: { workspaceId: 1, number: 1, paymentMethods: 1 } })
        .toArray()
      return latestHolds(found, new Set(claims), at)
    },
    /** Those of these places in visitor budgets that are taken, and the earliest time at which each may be free again. */
    drawsTaken: async (draws: readonly string[]): Promise<ReadonlyMap<string, Ms>> => {
      if (draws.length === 0) return new Map()
      const found = await invoices
        .find(scopes.holdingDraws(draws), { projection: { _id: 0, draws: 1, releaseAt: 1, expiresAt: 1 } })
        .toArray()
      const wanted = new Set(draws)
      const taken = found.flatMap(({ draws: held = [], releaseAt, expiresAt }) =>
        held.map((draw) => {
          const end = draw.startsWith(WATCH_PLACE) ? expiresAt : (releaseAt ?? expiresAt)
          return [draw, end.getTime()] as const
        }),
      )
      return new Map(taken.filter(([draw]) => wanted.has(draw)))
    },
    /** Invoices whose temporary claims were due for release by `until`, oldest first, after the given one. */
    dueForRelease: async (until: Ms, after: ReleaseMark | null, limit: number): Promise<readonly ReleaseMark[]> => {
      const due = await invoices
        .find(scopes.dueForRelease(until, after), { projection: { releaseAt: 1 } })
        .sort({ releaseAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return due.map((row) => ({ invoiceId: row._id, releaseAt: row.releaseAt?.getTime() ?? until }))
    },
    /**
     * Ends the claims of every payment method whose hold `state` shows as released, in one compare-and-set that increments the version and
     * changes nothing else; false when the version moved on. `priorHolds` finds them from then on.
     */
    releaseClaims: async (
      id: string,
      expectedVersion: number,
      state: Pick<InvoiceState, 'paymentMethods' | 'expiresAt' | 'paidAt' | 'visit'>,
    ): Promise<boolean> => {
      const held = { _id: id, version: expectedVersion }
      return (await invoices.updateOne(held, releaseToUpdate(state))).matchedCount === 1
    },

    /** Oldest unrelayed invoices of some shards, at most `limit`, without those waiting since before `from`; null leaves out none. */
    outboxBatch: async (shards: readonly number[], limit: number, from: Ms | null): Promise<OutboxBatch> => {
      const found = await invoices
        .aggregate<InvoiceDocument & { storeNow: Date }>(scopes.waitingOutboxes(shards, from, limit), {
          hint: 'invoice_outbox',
        })
        .toArray()
      const [first] = found
      return { invoices: found.map(invoiceFromDocument), storeNow: first === undefined ? null : toMs(first.storeNow) }
    },
    /** Shards that contain an entry older than `before`. */
    overdueOutboxShards: async (before: Ms): Promise<readonly number[]> => {
      const shards = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard)
      // Mostly nothing is overdue in any shard, and one question finds that out.
      const overdue = { of: INVOICES, filter: scopes.overdueInShards(shards, before), hint: 'invoice_outbox' }
      if (!(await isAny(db, overdue))) return []
      const oldest = await Promise.all(
        shards.map((shard) => invoices.findOne(scopes.overdueInShard(shard, before), { projection: { _id: 1 } })),
      )
      return shards.filter((shard) => oldest[shard] !== null)
    },
    /**
     * Drops entries with seq ≤ `throughSeq`; touches neither version nor updatedAt. With `majority: false` it waits for the primary alone: a
     * primary that is lost then brings an entry back, and relaying it once more changes nothing.
     */
    trimOutbox: async (
      trims: readonly { id: string; throughSeq: number }[],
      { majority }: { readonly majority: boolean } = { majority: true },
    ): Promise<void> => {
      if (trims.length === 0) return
      const idsBySeq = new Map<number, string[]>()
      for (const { id, throughSeq } of trims) idsBySeq.set(throughSeq, [...(idsBySeq.get(throughSeq) ?? []), id])
      // Most outboxes of a batch end with the same number, and one write costs the store far more than one row.
      const operations = [...idsBySeq].map(([throughSeq, ids]) => ({
        updateMany: { filter: { _id: { $in: ids } }, update: trimPipeline(throughSeq) },
      }))
      await invoices.bulkWrite(operations, { ordered: false, ...(!majority && { writeConcern: { w: 1 } }) })
    },
  }
}

/** The type of what {@link createInvoiceRepository} returns. */
export type InvoiceRepository = ReturnType<typeof createInvoiceRepository>

/** Absent until the first refund. */
function raisedTo(refundSeq: number): Filter {
  return { refundSeq: refundSeq === 0 ? { $exists: false } : refundSeq }
}

function conflictOf(error: unknown): InvoiceConflict {
  const fields = duplicateKeyFields(error)
  if (fields === null) throw error
  if (fields.has('idem.key')) return 'idempotency_key'
  if (fields.has('number')) return 'number'
  if (fields.has('claims')) return 'claims'
  if (fields.has('draws')) return 'draws'
  return fields.has('linkUse') ? 'link_use' : 'id'
}

/** The write of one change. */
function changeToUpdate({ state, append, op }: InvoiceChange): Update {
  const [first] = append
  const claims = claimsOf(state)
  const draws = drawsOf(state)
  const releaseAt = releaseTimeOf(state)
  const unset = {
    ...(state.nextActionAt === null && { nextActionAt: '' as const }),
    ...(draws.length === 0 && mayHaveDrawn(state) && { draws: '' as const }),
    ...(releaseAt === null &&
      state.paymentMethods.some(({ hold }) => hold !== undefined) && { releaseAt: '' as const }),
  }
  return {
    $set: {
      ...stateToDocument(state),
      ...(state.nextActionAt !== null && { nextActionAt: toDate(state.nextActionAt) }),
      ...(releaseAt !== null && { releaseAt }),
      ...(draws.length > 0 && { draws }),
    },
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
    $push: {
      ...(first !== undefined && { outbox: { $each: append.map(INVOICE_OUTBOX.toDocument) } }),
      ...(op !== null && { lastOps: { $each: [op], $slice: -LAST_OPS } }),
    },
    // $min sets the field when it is absent and keeps the older time when entries already wait.
    ...(first !== undefined && { $min: { outboxAt: toDate(first.at) } }),
    // Claims are only added here: an address once shown to a payer stays this invoice's until `releaseClaims` ends it.
    ...(claims.length > 0 && { $addToSet: { claims: { $each: claims } } }),
  }
}

/** The write that ends the claims of released payment methods. */
function releaseToUpdate(state: Parameters<InvoiceRepository['releaseClaims']>[2]): Update {
  const claims = claimsOf(state)
  const draws = drawsOf(state)
  const releaseAt = releaseTimeOf(state)
  const unset = {
    ...(claims.length === 0 && { claims: '' as const }),
    ...(draws.length === 0 && { draws: '' as const }),
    ...(releaseAt === null && { releaseAt: '' as const }),
  }
  return {
    $set: {
      paymentMethods: state.paymentMethods.map(INVOICE_METHOD.toDocument),
      ...(claims.length > 0 && { claims }),
      ...(draws.length > 0 && { draws }),
      ...returnedOf(state),
      ...(releaseAt !== null && { releaseAt }),
    },
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
    $inc: { version: 1 },
  }
}

/** For each of these claims the invoice that returned it last. */
function latestHolds(
  found: readonly Pick<InvoiceDocument, '_id' | 'workspaceId' | 'number' | 'paymentMethods'>[],
  claims: ReadonlySet<string>,
  at: Ms,
): ReadonlyMap<string, PriorHold> {
  const latest = new Map<string, PriorHold>()
  for (const { _id: invoiceId, workspaceId, number, paymentMethods } of found) {
    for (const { claim, formerClaims = [], hold } of paymentMethods) {
      if (hold === undefined || hold.releasedAt === null) continue
      const until = hold.releasedAt.getTime() + hold.quarantineMs
      for (const returned of [claim, ...formerClaims]) {
        if (!claims.has(returned) || (latest.get(returned)?.until ?? at) >= until) continue
        latest.set(returned, { invoiceId, workspaceId, number, until })
      }
    }
  }
  return latest
}

/** Changes neither version nor updatedAt: relaying is not a change of the invoice, and must not cause version conflicts. */
const trimPipeline = (throughSeq: number) => [
  { $set: { outbox: { $filter: { input: '$outbox', cond: { $gt: ['$$this.seq', throughSeq] } } } } },
  { $set: { outboxAt: { $ifNull: [{ $first: '$outbox.at' }, '$$REMOVE'] } } },
]

/** Money, or its confirmation, is still expected. */
const WAITING: readonly InvoiceStatus[] = ['new', 'pending', 'partial', 'confirming']

/**
 * Those of these claims whose invoice is over and, at a time, waits for late money no more: nothing of it changed, and no quote of it was
 * valid, for the longest time in which late money may settle it, at least a day.
 */
async function claimsCold(
  invoices: mongoose.mongo.Collection<InvoiceDocument>,
  claims: readonly string[],
  at: Ms,
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set()
  const projection = { _id: 0, claims: 1, expiresAt: 1, updatedAt: 1, paymentMethods: 1 } as const
  const found = await invoices
    .find({ ...holdingClaims(claims), status: { $nin: [...WAITING] } }, { projection })
    .toArray()
  const cold = new Set(found.flatMap((row) => (lateWatchEndsAt(row) <= at ? (row.claims ?? []) : [])))
  return new Set(claims.filter((claim) => cold.has(claim)))
}

function lateWatchEndsAt({
  expiresAt,
  updatedAt,
  paymentMethods,
}: Pick<InvoiceDocument, 'expiresAt' | 'updatedAt' | 'paymentMethods'>): Ms {
  const quoted = paymentMethods.flatMap(({ quotes }) => quotes.map((quote) => quote.expiresAt.getTime()))
  const graces = paymentMethods.map(({ policy }) => policy.lateGraceMs)
  return Math.max(expiresAt.getTime(), updatedAt.getTime(), ...quoted) + heldFor(Math.max(0, ...graces))
}
