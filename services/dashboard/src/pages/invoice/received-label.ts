import type { InvoiceDetail } from '../money/answers.ts'

/** How the suggested refund of an invoice was computed, in words for an operator; see `suggestRefund`. Empty without a coin. */
export function receivedLabel({ coins, status, refunds, payments }: InvoiceDetail): string {
  if (coins === null) return ''
  const { received, due, seen, symbol } = coins
  const live = payments.filter(({ state }) => state === 'detected' || state === 'confirmed')
  if (live.some(({ uncountedReason }) => uncountedReason === 'out_of_quote'))
    return `Received ${received} ${symbol}, and more while no price was valid. Only confirmed money that did not pay the invoice is suggested.`
  if (live.some(({ counted, state }) => counted && state === 'detected'))
    return `Received ${received} of ${due} ${symbol}, part of it not confirmed yet. Only confirmed money is suggested.`
  const earlier = refunds.some((refund) => refund.status !== 'withdrawn') ? ', less what refunds took of it' : ''
  if (status === 'overpaid') {
    return `Received ${received} of ${due} ${symbol}. Suggested: the amount above the price${earlier}.`
  }
  // What refunds took before the invoice was paid did not pay it either, but came in time.
  const isLate = live.some(
    (one) => one.asset === coins.asset && one.late && !one.eligible && one.uncountedReason === null,
  )
  return status === 'paid' && isLate
    ? `Received ${received} ${symbol}, of which ${seen} ${symbol} paid the invoice. Suggested: what came too late${earlier}.`
    : `Received ${received} ${symbol}. Suggested: all of it${earlier}.`
}
