import { activeLock } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { DeskEntry } from '#shared/ports/exception-decisions.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { amountText } from './exception-evidence.ts'

/** What a sentence about an entry of the inbox is made of. */
interface Scene {
  readonly entry: Pick<DeskEntry, 'kind' | 'detail'>
  readonly invoice: Invoice | null
  readonly payment: Payment | null
  readonly catalog: Pick<Catalog, 'asset'>
}

/** One or two plain sentences: what happened, where the money is, and why a person must decide. Pure. */
export function exceptionSentence(scene: Scene): string {
  const { entry, invoice, payment, catalog } = scene
  const money = payment === null ? null : amountText(payment, catalog)
  const where = payment?.state === 'confirmed' ? 'It is confirmed and in your wallet.' : 'It is not confirmed yet.'
  const number = invoice === null ? '' : ` of invoice #${invoice.terms.number}`
  if (money !== null && payment !== null) {
    switch (entry.kind) {
      case 'late':
        return `${money} arrived ${duration(payment.firstSeenAt - (invoice?.state.expiresAt ?? 0))} after expiry. ${where} It was not counted by itself because a limit of your late-payment rule was passed.`
      case 'wrong_asset':
      case 'wrong_network':
        return `${money} on ${payment.network} came to an address${number}, which asks for ${asked(invoice)}. ${where} Accepting it needs a value in words of the invoice.`
      case 'out_of_quote':
        return `${money} came when no promised price held. ${where}`
      case 'cancelled_paid':
        return `${money} came to invoice #${invoice?.terms.number ?? ''} after it was cancelled. ${where}`
      case 'unmatched':
        return `${money} on ${payment.network} came to an address of yours that no invoice held at that time. ${where}`
      case 'reorged':
        return `${money}, which had settled the invoice, left the chain. If it comes back it counts again by itself.`
      case 'over':
        return `${money} came although the invoice was paid already. ${where}`
      default:
        return entry.detail
    }
  }
  return invoice === null ? entry.detail : `${sumSentence(entry, invoice)}`
}

function sumSentence(entry: Scene['entry'], { state }: Invoice): string {
  const lock = activeLock(state)
  if (lock === null) return entry.detail
  const { dueBase, seenBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, lock.decimals)} ${lock.symbol}`
  if (entry.kind === 'partial' && seenBase < dueBase)
    return `${units(seenBase)} of ${units(dueBase)} arrived before the invoice expired; ${units(dueBase - seenBase)} are missing. You may accept it as it is.`
  if (entry.kind === 'over' && seenBase > dueBase)
    return `${units(seenBase - dueBase)} more than due arrived. The invoice is paid; the difference is for you to give back or to keep.`
  return entry.detail
}

function asked(invoice: Invoice | null): string {
  const lock = invoice === null ? null : activeLock(invoice.state)
  return lock === null ? 'nothing yet' : `${lock.symbol} on ${lock.network}`
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
