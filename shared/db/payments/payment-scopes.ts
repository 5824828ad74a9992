import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { SmallRest } from '#shared/domain/invoice/fold.ts'
import { asideOf } from '#shared/domain/invoice/fold-reading.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { PaymentListQuery } from '#shared/ports/payments.ts'
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
