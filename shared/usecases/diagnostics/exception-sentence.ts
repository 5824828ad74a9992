import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { claimedOf, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ExceptionEntry } from '#shared/ports/exception-decisions.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { amountText } from './exception-evidence.ts'

/** Input for the sentence about an exception. */
interface SentenceContext {
  readonly entry: Pick<ExceptionEntry, 'kind' | 'detail'>
  readonly invoice: Invoice | null
  readonly payment: Payment | null
  readonly catalog: Pick<Catalog, 'asset'>
}

/** One or two plain sentences: what happened, where the money is, and why a person must decide. Pure. */
export function exceptionSentence(scene: SentenceContext): string {
  const { entry, invoice, payment, catalog } = scene
  const money = payment === null ? null : amountText(payment, catalog)
  const where = payment?.state === 'confirmed' ? 'It is confirmed and in your wallet.' : 'It is not confirmed yet.'
  const number = invoice === null ? '' : ` of invoice #${invoice.terms.number}`
  if (money !== null && payment !== null) {
    switch (entry.kind) {
      case 'late':
        return `${money} arrived ${lateness(payment, invoice)}. ${where}`
      case 'wrong_asset':
      case 'wrong_network':
        return `${money} on ${NETWORKS[payment.network].name} arrived at an address${number}, which is for ${methodText(invoice)}. ${where} To accept it, enter what it is worth in the invoice's coin.`
      case 'out_of_quote':
        return `${money} arrived when no price was locked. ${where}`
      case 'cancelled_paid':
        return `${money} arrived for invoice #${invoice?.terms.number ?? ''} after it was cancelled. ${where}`
      case 'unmatched':
        return `${money} on ${NETWORKS[payment.network].name} was sent to one of your addresses that no open invoice was using. ${where}`
      case 'reorged':
        return `The network reversed ${money} that had paid the invoice. If the payment returns, it is applied again automatically.`
      case 'over':
        return `${money} arrived after the invoice was already paid. ${where}`
      default:
        return entry.detail
    }
  }
  return invoice === null ? entry.detail : `${sumSentence(entry, invoice)}`
}

function lateness(payment: Payment, invoice: Invoice | null): string {
  const paymentMethod = invoice === null ? null : activePaymentMethod(invoice.state)
  if (paymentMethod?.policy.isUseGone === true)
    return 'for an invoice whose place of the payment link another payer got meanwhile: accepting it sells one more than the link has'
  return `${duration(payment.firstSeenAt - (invoice?.state.expiresAt ?? 0))} after expiry, beyond the limits of your late-payment rule`
}

function sumSentence(entry: SentenceContext['entry'], { terms, state }: Invoice): string {
  const paymentMethod = activePaymentMethod(state)
  if (paymentMethod === null) return entry.detail
  const { dueBase, seenBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, paymentMethod.decimals)} ${paymentMethod.symbol}`
  const next =
    claimedOf(state) === 0n
      ? 'You can accept it as paid.'
      : 'It cannot be accepted while refunds take part of what came.'
  if (entry.kind === 'partial' && seenBase < dueBase)
    return `Invoice #${terms.number} expired with ${formatUnits(seenBase, paymentMethod.decimals)} of ${units(dueBase)} paid (${formatUnits(dueBase - seenBase, paymentMethod.decimals)} short). ${next}`
  if (entry.kind === 'over' && seenBase > dueBase)
    return `Invoice #${terms.number} was overpaid by ${units(seenBase - dueBase)}. Refund the difference, unless you already did, or keep it.`
  return entry.detail
}

function methodText(invoice: Invoice | null): string {
  const paymentMethod = invoice === null ? null : activePaymentMethod(invoice.state)
  return paymentMethod === null ? 'no coin yet' : `${paymentMethod.symbol} on ${NETWORKS[paymentMethod.network].name}`
}

/** `1 h 17 min`, `4 min`, `12 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3_600)
  const minutes = Math.floor((seconds % 3_600) / 60)
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${seconds} s`
}
