import { activePaymentMethod, type LedgerRow } from '#shared/domain/invoice/model.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { amountText } from './exception-evidence.ts'
import { duration } from './exception-sentence.ts'
import type { Ruling } from './explain-answer.ts'

/** A stored payment of the asking workspace. `words` is the text of `explainPayment`. */
interface Scene {
  readonly payment: Payment
  readonly invoice: Invoice | null
  readonly words: string
  readonly catalog: Pick<Catalog, 'asset'>
}

/** The verdict on a payment: whether it counts, and if not, why. Pure. */
export function transactionRuling({ payment, invoice, words, catalog }: Scene): Ruling {
  const amount = amountText(payment, catalog)
  if (!isLive(payment)) {
    const sentence = `${amount}. ${words}`
    return { verdict: 'gone', tone: 'bad', title: `Not applied: ${payment.state}`, sentence }
  }
  if (payment.asset === null) {
    const sentence = `The token is not supported. ${words}`
    return { verdict: 'lookalike', tone: 'bad', title: 'Not applied: unsupported token', sentence }
  }
  if (invoice === null) {
    const sentence = `${amount} arrived at one of your addresses. ${words}`
    return { verdict: 'unmatched', tone: 'bad', title: 'Not applied: no matching invoice', sentence }
  }
  const row = invoice.state.ledger.find((known) => known.payment === payment.key)
  return row?.counted && row.eligible
    ? counted(invoice, row, amount, words)
    : uncounted({ payment, invoice, words, catalog }, invoice, row, amount)
}

function counted({ terms, state }: Invoice, row: LedgerRow, amount: string, words: string): Ruling {
  const title = `Applied to invoice #${terms.number}`
  if (row.state !== 'confirmed') {
    return {
      verdict: 'waiting',
      tone: 'wait',
      title: `${title}, waiting for confirmations`,
      sentence: `${amount}. ${words}`,
    }
  }
  const sentence = `${amount} is confirmed and applied. The invoice is ${state.status}.`
  return { verdict: 'counted', tone: 'good', title, sentence }
}

function uncounted({ payment, words }: Scene, invoice: Invoice, row: LedgerRow | undefined, amount: string): Ruling {
  const { terms, state } = invoice
  const lock = activePaymentMethod(state)
  const asked = lock === null ? 'no coin yet' : `${lock.symbol} on ${NETWORKS[lock.network].name}`
  const reason = row?.uncountedReason ?? payment.uncountedReason
  const reached = `${amount} arrived at an address of invoice #${terms.number}`
  if (reason === 'wrong_network') {
    const sentence = `${reached}, on ${NETWORKS[payment.network].name}. The invoice is for ${asked}. You own this address on both networks, so the money is safe.`
    return { verdict: 'wrong_network', tone: 'bad', title: 'Not applied: sent on the wrong network', sentence }
  }
  if (reason === 'wrong_asset' || reason === 'inactive_lock') {
    const sentence = `${reached}, which is for ${asked}. The money is in your wallet.`
    return { verdict: 'wrong_coin', tone: 'bad', title: 'Not applied: different coin', sentence }
  }
  if (row?.late === true) {
    const late = duration(payment.firstSeenAt - state.expiresAt)
    const sentence = `${amount} was first seen ${late} after invoice #${terms.number} expired. ${words}`
    return { verdict: 'late', tone: 'bad', title: 'Not applied: too late', sentence }
  }
  if (payment.dirtyAt !== null) {
    const title = `Detected for invoice #${terms.number}`
    return { verdict: 'waiting', tone: 'wait', title, sentence: `${amount}. ${words}` }
  }
  const sentence = `${amount} for invoice #${terms.number}. ${words}`
  return { verdict: 'not_counted', tone: 'bad', title: 'Not applied', sentence }
}
