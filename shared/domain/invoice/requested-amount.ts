import { activePaymentMethod, type InvoiceState, type Ms } from './model.ts'
import { baseOf, payableBase } from './price-coverage.ts'
import { latestQuote } from './quote-window.ts'
import { unpaidOf } from './totals.ts'

/**
 * Base units that the payer is asked to send now; every page, link, wallet and API takes them from here. Zero where nothing is due, and
 * where only a new quote can name an amount by which the payment would be found. Sending it settles the invoice and is never too much.
 */
export function requestedBase(state: InvoiceState, at: Ms): bigint {
  return needsNewAmount(state, at) ? 0n : restToSend(state)
}

/**
 * True when the amount identifies the invoice and what is left to pay is not the amount of the latest quote, for instance because a payment came
 * under an earlier one: a transfer of it would be found by nobody, so the payer needs a new quote.
 */
export function needsNewAmount(state: InvoiceState, at: Ms): boolean {
  const paymentMethod = activePaymentMethod(state)
  const rest = restToSend(state)
  if (paymentMethod === null || rest === 0n) return false
  const isByAmount =
    paymentMethod.hold?.kind === 'amount' ||
    (paymentMethod.priorHold !== undefined && at <= paymentMethod.priorHold.until)
  return isByAmount && rest !== latestQuote(paymentMethod).amountBase
}

function restToSend(state: InvoiceState): bigint {
  const paymentMethod = activePaymentMethod(state)
  const isOpen = state.status === 'pending' || state.status === 'partial'
  if (paymentMethod === null || !isOpen) return 0n
  return payableBase(paymentMethod, baseOf(latestQuote(paymentMethod), unpaidOf(state, paymentMethod, 'seen')))
}
