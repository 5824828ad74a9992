import type { AssetId } from '../enumerations.ts'
import { larger, smaller } from '../money/money.ts'
import { claimedBase, type ReceivedMoney, type RefundClaim, refundableBase, sum } from '../payment/refundable.ts'
import { activePaymentMethod, type InvoiceState, type Ms } from './model.ts'
import { claimedOf, isLive, isSettled, settlement, totals } from './totals.ts'

/**
 * The likely refund, in base units of the chosen coin: for an overpaid invoice the amount above the amount due, for a paid one with money that
 * came too late or outside every quote that money, for any other everything received; minus refunds in that coin that were not withdrawn, but not
 * minus those of a paid invoice from money that came after them. Only confirmed money: the sender of an unconfirmed transfer may still replace
 * it. Never below zero, nor above what may still be refunded in that coin; zero without a coin.
 */
export function suggestRefund(
  state: InvoiceState,
  payments: readonly RefundablePayment[],
  refunds: readonly RefundClaim[],
): bigint {
  const asset = activePaymentMethod(state)?.asset
  if (asset === undefined) return 0n
  return larger(0n, smaller(toSendBack(state, payments, refunds, asset), refundableBase(asset, payments, refunds)))
}

/** The likely refund, whatever the coin that it came in; below zero where refunds took more. */
export function toSendBack(
  state: InvoiceState,
  payments: readonly RefundablePayment[],
  refunds: readonly RefundClaim[],
  asset: AssetId,
): bigint {
  const claimed = (some: readonly RefundClaim[]) =>
    claimedBase(asset, some) + claimedElsewhere(state, asset, payments, some)
  const surplus = confirmedSurplus(state)
  // What is above the price of a paid invoice is all that came later; earlier refunds took other money.
  const isAfter = (at: number) => state.paidAt !== null && at >= state.paidAt
  const later = refunds
    .filter(({ createdAt }) => isAfter(createdAt))
    .map(({ createdAt: at }) => {
      const came = payments.filter(
        (one) => one.asset === asset && one.state === 'confirmed' && (one.bookedAt[0] ?? at) > at,
      )
      const earlier = refunds.filter(({ createdAt }) => createdAt <= at)
      const base = sum(came) - (claimed(refunds) - claimed(earlier))
      return smaller(base, surplus)
    })
  return [surplus - claimed(refunds), ...later].reduce(larger)
}

/** A payment with its transfer key, by which the ledger names it, and the times at which it was confirmed or gone in turn, oldest first. */
export type RefundablePayment = ReceivedMoney & { readonly key?: string; readonly bookedAt: readonly Ms[] }

/**
 * What refunds in other coins take from accepted money, in base units of the chosen coin. Money in such a coin that does not count is taken
 * first: its refund gives nothing of the price back.
 */
function claimedElsewhere(
  { ledger }: Pick<InvoiceState, 'ledger'>,
  chosen: AssetId,
  payments: readonly RefundablePayment[],
  refunds: readonly RefundClaim[],
): bigint {
  const worth = new Map(ledger.map((row) => [row.payment, row.acceptedBase ?? 0n]))
  const others = new Set(refunds.map(({ asset }) => asset).filter((asset) => asset !== chosen))
  return [...others].reduce((total, asset) => {
    const own = payments.filter((payment) => payment.asset === asset && payment.state === 'confirmed')
    const counted = own.filter(({ key = '' }) => (worth.get(key) ?? 0n) > 0n)
    const base = sum(counted)
    const beside = sum(own) - base
    const taken = claimedBase(asset, refunds) - beside
    const accepted = counted.reduce((value, { key = '' }) => value + (worth.get(key) ?? 0n), 0n)
    if (base === 0n || taken <= 0n) return total
    return taken >= base ? total + accepted : total + (accepted * taken) / base
  }, 0n)
}

function confirmedSurplus(state: InvoiceState): bigint {
  const { confirmedBase, receivedBase, dueBase } = totals(state)
  const { base: seenBase } = settlement(state, 'seen')
  const { base: settledBase } = settlement(state, 'settled')
  const outside = state.ledger.filter((row) => row.uncountedReason === 'out_of_quote' && isLive(row))
  const outsideBase = sum(outside.filter((row) => row.state === 'confirmed'))
  if (state.status === 'overpaid') return confirmedBase - dueBase + outsideBase
  // Unconfirmed money beside the order must not lead to a refund of the order.
  const isBeside = receivedBase > seenBase + claimedOf(state) || outside.length > 0
  if (isSettled(state)) return isBeside ? confirmedBase - settledBase + outsideBase : confirmedBase
  return confirmedBase + outsideBase
}
