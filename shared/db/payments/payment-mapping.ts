import { createHash } from 'node:crypto'
import mongoose from 'mongoose'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { SmallRest } from '#shared/domain/invoice/fold.ts'
import { asideOf, IN_FOLD } from '#shared/domain/invoice/fold-reading.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ObservedTransfer, Payment, PaymentListQuery } from '#shared/ports/payments.ts'
import { KEY_INDEX, PAYMENTS, type PaymentBlock, type PaymentDocument } from './payment-model.ts'

/** A block position as stored. */
export const blockToDocument = (block: PaymentBlock): NonNullable<PaymentDocument['block']> => ({
  height: block.height,
  hash: block.hash,
  time: toDate(block.time),
  ...(block.increase !== undefined && { rise: block.increase }),
})

/** A stored block position. The balance increase is stored as `rise`, its name in the first release. */
const blockFromDocument = ({ height, hash, time, rise }: NonNullable<PaymentDocument['block']>): PaymentBlock => ({
  height,
  hash,
  time: toMs(time),
  ...(rise !== undefined && { increase: rise }),
})

/** A stored payment with its amount as bigint and its times in milliseconds. */
export function paymentFromDocument(stored: PaymentDocument): Payment {
  const { dirtyAt = null, ...same } = PAYMENTS.toRecord(stored)
  return { ...same, dirtyAt, block: stored.block === null ? null : blockFromDocument(stored.block) }
}

/** A whole payment as stored; for payments that no scanner writes. */
export function paymentToDocument({ block, dirtyAt, ...same }: Payment): PaymentDocument {
  return {
    ...PAYMENTS.toDocument({ ...same, block: null, ...(dirtyAt !== null && { dirtyAt }) }),
    keyDigest: paymentKeyDigest(same.key),
    block: block === null ? null : blockToDocument(block),
    scanWrite: '',
  }
}

/** An observation as a payment of version 0 in no block: the upsert starts from it and then applies the block position. */
export function unseenDocument(observation: ObservedTransfer, id: string, at: Ms): PaymentDocument {
  const unseen = { scanEpoch: 0, version: 0, counted: false, late: false, opId: null, createdAt: at, updatedAt: at }
  const inNoBlock = { block: null, confirmAt: null, confirmedAt: null, bookedAt: [], replacedBy: null }
  return {
    ...PAYMENTS.toDocument({ ...observation, ...unseen, ...inNoBlock, id, kind: 'onchain', state: 'detected' }),
    keyDigest: paymentKeyDigest(observation.key),
    scanWrite: '',
  }
}

// ';' follows ':' in ASCII.
const behind = (prefix: string) => ({ $gte: `${prefix}:`, $lt: `${prefix};` })

/** Filters that find payments by their transfer keys, and the index that must serve them. */
export const BY_KEY = {
  hint: KEY_INDEX,
  one: (key: string) => ({ keyDigest: paymentKeyDigest(key), key }),
  among: (keys: readonly string[]) => ({ keyDigest: { $in: keys.map(paymentKeyDigest) }, key: { $in: [...keys] } }),
  /** Keys that begin with this text and a colon. The text names at least a transaction, or the account of a balance increase. */
  beginningWith: (prefix: string) => ({ keyDigest: digestRange(prefix), key: behind(prefix) }),
}

/** Bytes that all keys of one transaction have in common, and bytes of the whole key behind them. */
const GROUP_BYTES = 8
const KEY_BYTES = 20
/**
 * The transaction in a transfer key, which is its first three parts; of a balance increase the account, which is the fourth
 * (`<mode>:<network>:d:0x<account>:…`). A shorter key is its own group.
 */
const GROUP = /^[^:]*(?::[^:]*)?(?::d:0x[^:]*|:[^:]*)?/

/**
 * The digest under which a payment is unique: 28 bytes, of which the first 8 come from SHA-256 of the key's transaction and the last 20
 * from SHA-256 of the whole key, so that the payments of a transaction lie side by side. Two keys of one transaction have equal
 * digests with a probability of 2^-160.
 */
export function paymentKeyDigest(key: string): mongoose.mongo.Binary {
  return new mongoose.mongo.Binary(Buffer.concat([groupBytes(key), sha256(key).subarray(0, KEY_BYTES)]))
}

/**
 * Bounds of the digests of all keys that begin with `prefix` and a colon, others of that transaction among them. The prefix names at
 * least the transaction, or the account of a balance increase.
 */
export function digestRange(prefix: string): { $gte: mongoose.mongo.Binary; $lte: mongoose.mongo.Binary } {
  const group = groupBytes(prefix)
  const bound = (byte: number) => new mongoose.mongo.Binary(Buffer.concat([group, Buffer.alloc(KEY_BYTES, byte)]))
  return { $gte: bound(0x00), $lte: bound(0xff) }
}

function groupBytes(key: string): Buffer {
  return sha256(GROUP.exec(key)?.[0] ?? '').subarray(0, GROUP_BYTES)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

type Filter = mongoose.mongo.Filter<PaymentDocument>
type OnNetwork = { readonly mode: Mode; readonly network: NetworkId }

/** Blocks at some heights of a network, and which payments at these heights are compared with them. */
export type BlocksOfHeights = OnNetwork & {
  readonly from?: number
  readonly confirmedToo?: boolean
  readonly blocks: readonly Pick<PaymentBlock, 'height' | 'hash'>[]
}

// Payment filters. Each is served by one index; `explain.int.test.ts` shows which.

/** States of payments on the chain; the second only while they wait for confirmations. */
const LIVE: PaymentDocument['state'][] = ['detected', 'confirmed']
const UNCONFIRMED: PaymentDocument['state'][] = ['detected']

/** Unconfirmed payments that are deep enough, and final where required. */
export const dueForConfirmation = ({
  mode,
  network,
  height,
  finalizedHeight,
}: OnNetwork & { readonly height: number; readonly finalizedHeight: number | null }) => ({
  network,
  mode,
  state: 'detected' as const,
  confirmAt: { $lte: height },
  $or: [{ needsFinality: { $ne: true } }, { 'block.height': { $lte: finalizedHeight ?? -1 } }],
})

/** On-chain payments that are in no block yet. */
export const unconfirmed = (mode: Mode, network: NetworkId) => ({
  network,
  mode,
  state: 'detected' as const,
  confirmAt: null,
  kind: 'onchain' as const,
})

/** Payments in blocks from `from` to `to`. */
export const liveInBlocks = (scope: OnNetwork & { readonly from: number; readonly to: number }) => ({
  network: scope.network,
  mode: scope.mode,
  'block.height': { $gte: scope.from, $lte: scope.to },
  state: { $in: LIVE },
})

/** Live on-chain payments above a height. */
export const above = ({
  mode,
  network,
  forkHeight,
  unconfirmedOnly = false,
}: OnNetwork & { readonly forkHeight: number; readonly unconfirmedOnly?: boolean }) => ({
  kind: 'onchain' as const,
  state: { $in: unconfirmedOnly ? UNCONFIRMED : LIVE },
  'block.height': { $gt: forkHeight },
  network,
  mode,
})

/** Payments at the heights of these blocks, of which there is at least one, that are in none of them. */
export function notInTheseBlocks(scope: BlocksOfHeights) {
  const { mode, network, from = Number.MAX_SAFE_INTEGER, confirmedToo = false, blocks } = scope
  const heights = blocks.map((block) => block.height)
  return {
    network,
    mode,
    kind: 'onchain' as const,
    state: { $in: confirmedToo ? LIVE : UNCONFIRMED },
    'block.height': { $gte: Math.min(from, ...heights), $lte: Math.max(...heights) },
    'block.hash': { $nin: blocks.map((block) => block.hash) },
  }
}

/** Payments with a version that has not been applied to their invoice since `before`. */
export const unapplied = (before: Ms) => ({ dirtyAt: { $lte: toDate(before) } })

/** Payments of an invoice that have no place yet, or one of another `foldKey`: those begin with a digit, as no other place does. */
export const notFolded = (invoiceId: string, foldKey: string) => ({
  $or: [
    { invoiceId, place: { $exists: false } },
    { invoiceId, place: { $gte: '0', $lt: `${foldKey}:` } },
    { invoiceId, place: { $gte: `${foldKey};`, $lt: ':' } },
  ],
})

/** Live dust that may close a rest, by its amount in its place. */
export const dustFor = (invoiceId: string, foldKey: string, rest: SmallRest) => ({
  invoiceId,
  place: { $gte: asideOf(foldKey, rest.leastBase), $lt: asideOf(foldKey, rest.belowBase) },
  asset: rest.asset,
  network: rest.network,
  matchKey: rest.matchKey,
  state: { $in: LIVE },
})

/**
 * Payments of a list request: all that belong to an invoice, whether they count or not, as in the files. An unknown token is no payment in an asset; it is
 * left out here, so that no page ends early.
 */
export const listed = ({ workspaceId, mode, invoiceId, beforeId }: PaymentListQuery): Filter => ({
  workspaceId,
  mode,
  invoiceId: invoiceId ?? { $ne: null },
  asset: { $ne: null },
  ...(beforeId !== null && { _id: { $lt: beforeId } }),
})

/** Outpoints are only for the scanner. */
const WITHOUT_SPENDS = { projection: { spends: 0 } } as const
/** Payments that one fold adds to those it always reads; more are left to the next ones. */
const FOLD_MAX = 500
/** Dust that one fold compares with a small rest, the largest first: what closes no rest cannot hide what does. */
const DUST_MAX = 100
/** Payments of one invoice that are shown besides those in its ledger: the newest. */
const SHOWN_MAX = 200

/** The payments of one read for a fold. */
export interface FoldRead {
  readonly payments: readonly Payment[]
  /** Payments were left out that another read will return once these have their places. */
  readonly hasMore: boolean
}

/** Reads of one invoice's payments. */
export function createInvoicePayments(payments: mongoose.mongo.Collection<PaymentDocument>) {
  const withoutSpends = (stored: PaymentDocument): Payment => paymentFromDocument({ ...stored, spends: [] })
  const bare = async (
    filter: mongoose.mongo.Filter<PaymentDocument>,
    options: mongoose.mongo.FindOptions = {},
  ): Promise<readonly Payment[]> =>
    (await payments.find(filter, { ...WITHOUT_SPENDS, ...options }).toArray()).map(withoutSpends)
  const listAmong = async (invoiceId: string, keys: readonly string[]): Promise<readonly Payment[]> =>
    keys.length === 0
      ? []
      : (
          await payments.find({ ...BY_KEY.among(keys), invoiceId }, { ...WITHOUT_SPENDS, hint: BY_KEY.hint }).toArray()
        ).map(withoutSpends)

  return {
    /** All of them, however many, oldest first, with their outpoints. */
    listByInvoice: async (invoiceId: string): Promise<readonly Payment[]> =>
      (await payments.find({ invoiceId }).sort({ _id: 1 }).toArray()).map(paymentFromDocument),
    /**
     * What a fold needs, without outpoints and in no order: payments with these keys, all that are `IN_FOLD`, and up to 500 of those that were
     * not applied since they changed, or put aside under another `foldKey`. `isFinal`: what is new is read linearizably, because a decision follows that
     * nothing takes back, such as the end of an invoice without money; rejects when no majority confirms it.
     */
    listForFold: async (
      invoiceId: string,
      foldKey: string,
      { keys, isFinal }: { readonly keys: readonly string[]; readonly isFinal: boolean },
    ): Promise<FoldRead> => {
      const freshBatch = { limit: FOLD_MAX + 1, batchSize: FOLD_MAX + 2, ...(isFinal && NEWEST) }
      const [named, counting, fresh] = await Promise.all([
        listAmong(invoiceId, keys),
        bare({ invoiceId, place: IN_FOLD }),
        bare(notFolded(invoiceId, foldKey), freshBatch),
      ])
      const found = [...named, ...counting, ...fresh.slice(0, FOLD_MAX)]
      return { payments: unique(found), hasMore: fresh.length > FOLD_MAX }
    },
    /** Live dust that was put aside under this `foldKey` and may close a rest: up to 100, the largest first. */
    listDustFor: async (invoiceId: string, foldKey: string, rest: SmallRest): Promise<readonly Payment[]> =>
      (
        await payments
          .find(dustFor(invoiceId, foldKey, rest), WITHOUT_SPENDS)
          .sort({ place: -1 })
          .limit(DUST_MAX)
          .toArray()
      ).map(withoutSpends),
    /** For people: those with these keys and the newest 200, without outpoints, oldest first. */
    listShown: async (invoiceId: string, keys: readonly string[]): Promise<readonly Payment[]> => {
      const newest = payments.find({ invoiceId }, WITHOUT_SPENDS).sort({ _id: -1 }).limit(SHOWN_MAX)
      const [named, rows] = await Promise.all([listAmong(invoiceId, keys), newest.toArray()])
      return unique([...named, ...rows.map(withoutSpends)]).toSorted((one, other) => (one.id < other.id ? -1 : 1))
    },
    /** Whether an operation simulated a payment of the invoice. */
    hasSimulated: async (invoiceId: string, opId: string): Promise<boolean> =>
      (await payments.findOne({ invoiceId, kind: 'simulated', opId }, { projection: { _id: 1 } })) !== null,
    /** Scripts or addresses of its payments that wait for confirmations. */
    detectedMatchKeys: async (invoiceId: string): Promise<ReadonlySet<string>> => {
      const found = payments.find({ invoiceId, state: 'detected' }, { projection: { _id: 0, matchKey: 1 } })
      return new Set((await found.toArray()).map(({ matchKey }) => matchKey))
    },
    /** Those with one of these transfer keys, without their outpoints, in no order. */
    listAmong,
    /** The newest ones that ended in no block. */
    listEnded: async (invoiceId: string, limit: number): Promise<readonly Payment[]> =>
      (
        await payments
          .find({ invoiceId, state: { $in: ['orphaned', 'dropped', 'replaced'] } })
          .sort({ _id: -1 })
          .limit(limit)
          .toArray()
      ).map(paymentFromDocument),
  }
}

function unique(payments: readonly Payment[]): readonly Payment[] {
  return [...new Map(payments.map((payment) => [payment.key, payment])).values()]
}
