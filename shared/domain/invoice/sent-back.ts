import { larger } from '../money/money.ts'
import { type RefundClaim, sum } from '../payment/refundable.ts'
import { FOREIGN_ROWS_MAX } from './fold.ts'
import type { PaymentObservation } from './invoice-event.ts'
import { activePaymentMethod, type InvoiceState, type LedgerRow, type Ms, type OpenException } from './model.ts'
import { toSendBack } from './suggest-refund.ts'
import { isLive } from './totals.ts'

/**
 * Whether all money that an exception asks a person to decide about went back to the customer, so that nothing is left to decide. Only refunds that were
 * sent count, and each takes only money that was confirmed when it was opened; first, as in `withClaim`, money that pays nothing of the price. Where
 * they took a part of several such payments nobody can say of which, and the exception of each stays open. `observations` has every payment
 * of the ledger.
 */
export function isSentBack(
  state: InvoiceState,
  open: OpenException,
  observations: readonly PaymentObservation[],
  refunds: readonly RefundClaim[],
): boolean {
  const sent = refunds.filter(({ status }) => status === 'sent')
  // With more rows there may be money without one, and a refund of it would look like one of theirs.
  if (sent.length === 0 || state.ledger.length >= FOREIGN_ROWS_MAX) return false
  const live = state.ledger.filter(isLive)
  if (open.exception === 'over') return isExcessSentBack(state, live, observations, sent)
  const about = live.filter((row) =>
    open.exception === 'partial' ? paysPrice(row) && !row.late : row.payment === open.payment,
  )
  if (about.length === 0) return false
  const assets = new Map(observations.map(({ payment, asset }) => [payment, asset]))
  const asset = open.payment === null ? activePaymentMethod(state)?.asset : assets.get(open.payment)
  const isOfPrice = about.some(paysPrice)
  const inAsset = live.filter((row) => assets.get(row.payment) === asset)
  const back = sent.filter((refund) => refund.asset === asset).sort((one, other) => one.createdAt - other.createdAt)
  // Nothing is left of the coin, whatever the refunds were of: money may have left the chain after its refund.
  if (sum(inAsset) <= sum(back) && about.every(({ state: now }) => now === 'confirmed')) return true
  let came: readonly LedgerRow[] = []
  let leftBase = 0n
  return back.some(({ createdAt: at, amountBase }) => {
    const known = new Set(came)
    came = inAsset.filter((row) => wasConfirmed(row, at) && (isOfPrice || !paysPrice(row)))
    leftBase = larger(leftBase + sum(came.filter((row) => !known.has(row))) - amountBase, 0n)
    return leftBase === 0n && about.every((row) => wasConfirmed(row, at))
  })
}

function isExcessSentBack(
  state: InvoiceState,
  live: readonly LedgerRow[],
  observations: readonly PaymentObservation[],
  sent: readonly RefundClaim[],
): boolean {
  const asset = activePaymentMethod(state)?.asset
  if (asset === undefined || live.some((row) => paysPrice(row) && row.state !== 'confirmed')) return false
  const times = new Map(live.map(({ payment, bookings = [] }) => [payment, bookings.map(({ at }) => at)]))
  const payments = observations.map((one) => ({ ...one, key: one.payment, bookedAt: times.get(one.payment) ?? [] }))
  return toSendBack(state, payments, sent, asset) <= 0n
}

const paysPrice = ({ counted, eligible }: LedgerRow): boolean => counted && eligible

const wasConfirmed = ({ bookings: [first] = [] }: LedgerRow, at: Ms): boolean => first !== undefined && first.at <= at
