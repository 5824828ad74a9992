import type { AssetId, PaymentState, RefundStatus } from '../enumerations.ts'

/** A payment of an invoice, counted or not: a wrong coin is what is refunded most. */
export interface ReceivedMoney {
  readonly asset: AssetId | null
  readonly state: PaymentState
  readonly amountBase: bigint
}

/** A refund of an invoice. */
export interface RefundClaim {
  readonly asset: AssetId
  readonly status: RefundStatus
  readonly amountBase: bigint
  /** When it was opened, Unix ms: it can take only money that was confirmed then. */
  readonly createdAt: number
}

/**
 * Base units of one asset that may still be refunded of an invoice: its confirmed payments in that asset, counted or not, minus its
 * refunds that were not withdrawn. Below zero when a reorganisation took back money that a refund claims.
 */
export function refundableBase(
  asset: AssetId,
  payments: readonly ReceivedMoney[],
  refunds: readonly RefundClaim[],
): bigint {
  const received = payments.filter((payment) => payment.asset === asset && payment.state === 'confirmed')
  return sum(received) - claimedBase(asset, refunds)
}

/** Base units of an asset that refunds claim, those that were sent included. */
export function claimedBase(asset: AssetId, refunds: readonly RefundClaim[]): bigint {
  return sum(refunds.filter((refund) => refund.asset === asset && refund.status !== 'withdrawn'))
}

/** The assets of which something may still be refunded, and how much, in the order of the payments. */
export function refundableAssets(
  payments: readonly ReceivedMoney[],
  refunds: readonly RefundClaim[],
): readonly { readonly asset: AssetId; readonly amountBase: bigint }[] {
  return [...new Set(payments.flatMap(({ asset }) => asset ?? []))]
    .map((asset) => ({ asset, amountBase: refundableBase(asset, payments, refunds) }))
    .filter(({ amountBase }) => amountBase > 0n)
}

/** Whether refunds in some asset claim more than the confirmed payments in it. */
export function isRefundUncovered(payments: readonly ReceivedMoney[], refunds: readonly RefundClaim[]): boolean {
  return refunds.some(({ asset }) => refundableBase(asset, payments, refunds) < 0n)
}

/** Base units of all of them. */
export function sum(rows: readonly { readonly amountBase: bigint }[]): bigint {
  return rows.reduce((total, { amountBase }) => total + amountBase, 0n)
}
