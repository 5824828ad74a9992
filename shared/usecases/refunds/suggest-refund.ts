import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { isLive, isSettled, totals } from '#shared/domain/invoice/totals.ts'
import { claimedBase, refundableBase } from '#shared/domain/payment/refundable.ts'
import type { Refund } from '#shared/ports/refunds.ts'

/**
 * The likely refund, in base units of the chosen coin: for an overpaid invoice the amount above the amount due, for a paid one with money that
 * came too late or outside every quote that money, for any other everything received; minus refunds in that coin that were not withdrawn.
 * Only confirmed money: the sender of an unconfirmed transfer may still replace it. Never below zero, nor above what may still be refunded
 * in that coin; zero without a coin.
 */
export function suggestRefund(
  state: InvoiceState,
  payments: Parameters<typeof refundableBase>[1],
  refunds: readonly Pick<Refund, 'asset' | 'amountBase' | 'status'>[],
): bigint {
  const paymentMethod = activePaymentMethod(state)
  if (paymentMethod === null) return 0n
  const surplus = confirmedSurplus(state) - claimedBase(paymentMethod.asset, refunds)
  const left = refundableBase(paymentMethod.asset, payments, refunds)
  if (surplus <= 0n || left <= 0n) return 0n
  const isBounded = surplus > left
  return isBounded ? left : surplus
}

function confirmedSurplus(state: InvoiceState): bigint {
  const { confirmedBase, settledBase, receivedBase, seenBase, dueBase } = totals(state)
  const outside = state.ledger.filter((row) => row.uncountedReason === 'out_of_quote' && isLive(row))
  const outsideBase = outside
    .filter(({ state: seen }) => seen === 'confirmed')
    .reduce((sum, { amountBase }) => sum + amountBase, 0n)
  if (state.status === 'overpaid') return confirmedBase - dueBase + outsideBase
  // Unconfirmed money beside the order must not lead to a refund of the order.
  const isBeside = receivedBase > seenBase || outside.length > 0
  if (isSettled(state)) return isBeside ? confirmedBase - settledBase + outsideBase : confirmedBase
  return receivedBase > 0n ? confirmedBase + outsideBase : 0n
}
