import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { SmallRest } from '#shared/domain/invoice/fold.ts'
import { asideOf, IN_FOLD } from '#shared/domain/invoice/fold-reading.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Payment, PaymentListQuery } from '#shared/ports/payments.ts'
import { BY_KEY, paymentFromDocument } from './payment-mapping.ts'
import type { PaymentBlock, PaymentDocument } from './payment-model.ts'

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
  const bare = async (filter: mongoose.mongo.Filter<PaymentDocument>, limit = 0): Promise<readonly Payment[]> =>
    (await payments.find(filter, WITHOUT_SPENDS).limit(limit).toArray()).map(withoutSpends)
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
     * not applied since they changed, or put aside under another `foldKey`.
     */
    listForFold: async (invoiceId: string, foldKey: string, keys: readonly string[]): Promise<FoldRead> => {
      const [named, counting, fresh] = await Promise.all([
        listAmong(invoiceId, keys),
        bare({ invoiceId, place: IN_FOLD }),
        bare(notFolded(invoiceId, foldKey), FOLD_MAX + 1),
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
