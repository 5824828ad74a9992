import type { Check, NextStep } from '#shared/contracts/explanations.ts'
import { activePaymentMethod, type LedgerRow } from '#shared/domain/invoice/model.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import { NETWORKS, type NetworkId } from '#shared/domain/networks.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { amountText } from './exception-evidence.ts'
import { duration } from './exception-sentence.ts'
import type { Answer, Ruling } from './explain-answer.ts'
import { misreadLink } from './explain-transaction.ts'
import type { FoundTransaction } from './find-transaction.ts'

interface AnswerContext {
  readonly found: FoundTransaction
  readonly invoice: Invoice | null
  readonly exceptionId: string | null
  readonly catalog: Pick<Catalog, 'asset'>
}

/** What happened to a transaction, as the requesting workspace may see it. Pure. */
export function transactionAnswer(scene: AnswerContext): Answer {
  const { found, invoice } = scene
  const { own } = found
  const base = { transfer: own, invoiceId: invoice?.terms.id ?? null, looked: [...found.looked] }
  if (own === null) return { ...base, ...withoutPayment(found) }
  const reported = found.known?.stored.find(({ id }) => id === own.id)
  const ruling = transactionRuling({ payment: own, invoice, words: reported?.words ?? '', catalog: scene.catalog })
  const checks = checksOf(own, invoice, scene, ruling)
  return { ...base, ...ruling, checks, next: stepsOf(own, scene, ruling.verdict) }
}

function checksOf(
  payment: Payment,
  invoice: Invoice | null,
  { found, catalog }: AnswerContext,
  ruling: Ruling,
): Check[] {
  const reported = found.known?.stored.find(({ id }) => id === payment.id)
  const paymentMethod = invoice === null ? null : activePaymentMethod(invoice.state)
  const where = payment.block === null ? 'not in a block yet' : `block ${payment.block.height}`
  const stands = payment.state === 'detected' || payment.state === 'confirmed'
  const counts = ruling.verdict === 'counted' || ruling.verdict === 'waiting'
  const checks: Check[] = [
    {
      ok: stands,
      title: stands ? 'The transaction exists and succeeded' : `The transaction is ${payment.state}`,
      detail: `${NETWORKS[payment.network].name}, ${where}, ${reported?.confirmations ?? 0} confirmations, ${payment.requiredConfirmations} needed`,
    },
    payment.asset === null
      ? { ok: false, title: 'The token is not supported', detail: `Contract ${payment.contract ?? 'unknown'}` }
      : {
          ok: true,
          title: `The coin is genuine ${catalog.asset(payment.asset).symbol}`,
          detail:
            payment.contract === null
              ? 'The network’s native coin'
              : `Contract ${payment.contract}, matched by contract, not by name`,
        },
    { ok: true, title: 'The address is yours', detail: payment.toAddress },
  ]
  if (invoice === null || paymentMethod === null) {
    checks.push({
      ok: false,
      title: 'No invoice is for it',
      detail: 'No invoice was using this address, or was for this amount, at that time',
    })
  } else {
    const same = payment.asset === paymentMethod.asset
    const network = payment.network === paymentMethod.network
    const terms = `Invoice: ${paymentMethod.symbol} on ${NETWORKS[paymentMethod.network].name}. Payment: ${amountText(payment, catalog)} on ${NETWORKS[payment.network].name}.`
    checks.push({
      ok: same,
      title: same ? 'Coin and network match' : network ? 'The coin differs' : 'The network differs',
      detail: terms,
    })
    const inTime = payment.firstSeenAt <= invoice.state.expiresAt
    const times = `First seen ${iso(payment.firstSeenAt)}, deadline ${iso(invoice.state.expiresAt)}`
    checks.push({
      ok: inTime ? true : counts,
      title: inTime ? 'It arrived in time' : 'It arrived after the deadline',
      detail: times,
    })
  }
  checks.push({ ok: counts, title: counts ? 'Applied to the invoice' : 'Not applied', detail: reported?.words ?? '' })
  return checks
}

function stepsOf(payment: Payment, { invoice, exceptionId }: AnswerContext, verdict: Answer['verdict']): NextStep[] {
  const steps: NextStep[] = []
  if (exceptionId !== null)
    steps.push({
      kind: 'open_exception',
      title: 'Resolve the exception',
      detail: 'Accept it with a reason, reject it, or add a note.',
      id: exceptionId,
    })
  if (payment.invoiceId === null && payment.state === 'confirmed')
    steps.push({
      kind: 'attach',
      title: 'Apply to an invoice',
      detail: 'Enter the invoice number and a reason. You see a preview first.',
      id: payment.id,
    })
  if (verdict === 'waiting')
    steps.push({ kind: 'wait', title: 'Wait', detail: 'It is applied automatically once it is confirmed.', id: null })
  if (exceptionId !== null)
    steps.push({
      kind: 'return',
      title: 'Refund it',
      detail: 'Send it from your own wallet. Ask the customer for an address first.',
      id: invoice?.terms.id ?? null,
    })
  if (invoice !== null)
    steps.push({
      kind: 'open_invoice',
      title: `Open invoice #${invoice.terms.number}`,
      detail: `Status: ${invoice.state.status}.`,
      id: invoice.terms.id,
    })
  return steps
}

/** Which networks lack the transaction, and which could not be checked; the latter are never reported as lacking it. */
function searchedText(looked: readonly NetworkId[], silent: readonly NetworkId[]): string {
  const names = (networks: readonly NetworkId[]) => networks.map((network) => NETWORKS[network].name).join(', ')
  const checked = looked.filter((network) => !silent.includes(network))
  const lacking = [
    ...(checked.length > 0 ? [`No transaction with this ID on ${names(checked)}.`] : []),
    ...(silent.length > 0 ? [`${names(silent)} could not be checked.`] : []),
  ]
  return lacking.length > 0 ? lacking.join(' ') : 'No transaction with this ID on any connected network.'
}

/** The answer when nothing of it is stored for this workspace. */
function withoutPayment({
  known,
  isOwn,
  looked,
  silent,
}: FoundTransaction): Omit<Answer, 'transfer' | 'invoiceId' | 'looked'> {
  const none = { checks: [], next: [] }
  if (known === null) {
    const sentence = `${searchedText(looked, silent)} It may not be mined yet, or is on another network.`
    return { verdict: 'not_found', tone: 'plain', title: 'Not found', sentence, ...none }
  }
  const { node, network } = known
  if (node === 'unconfirmed') {
    const sentence = `${NETWORKS[network].name} has it, but it is not in a block yet. It may still be replaced or dropped.`
    const wait = {
      kind: 'wait',
      title: 'Wait',
      detail: 'It is checked again as soon as it is in a block.',
      id: null,
    } as const
    return { verdict: 'not_mined', tone: 'wait', title: 'Not in a block yet', sentence, checks: [], next: [wait] }
  }
  if (typeof node === 'object' && !node.succeeded) {
    const sentence = `It is in block ${node.height} on ${NETWORKS[network].name} and failed. No money was moved.`
    return { verdict: 'failed', tone: 'bad', title: 'The transaction failed', sentence, ...none }
  }
  const misread = isOwn ? null : misreadLink(known.transfers, network)
  if (misread !== null) {
    const check = {
      ok: false,
      title: 'It pays the token’s contract',
      detail: 'Ask the customer to copy the address and the amount instead of opening the payment link.',
    }
    return {
      verdict: 'token_contract',
      tone: 'bad',
      title: 'Sent to the token’s own contract',
      sentence: misread,
      checks: [check],
      next: [],
    }
  }
  if (!isOwn) {
    const where = typeof node === 'object' ? ` in block ${node.height}` : ''
    const sentence = `The transaction is on ${NETWORKS[network].name}${where} and pays no address of this workspace.`
    const check = {
      ok: false,
      title: 'It pays none of your addresses',
      detail: 'Compare the address in the customer’s wallet with the invoice address.',
    }
    return { verdict: 'not_yours', tone: 'plain', title: 'Not sent to you', sentence, checks: [check], next: [] }
  }
  const height = typeof node === 'object' ? node.height : 0
  if ((known.scannerHeight ?? -1) < height) {
    const sentence = `It pays one of your addresses in block ${height} on ${NETWORKS[network].name}. The scanner is at block ${known.scannerHeight ?? 'none'} and will reach it automatically.`
    const wait = { kind: 'wait', title: 'Wait', detail: 'Nothing is lost: every block is scanned.', id: null } as const
    return {
      verdict: 'not_scanned',
      tone: 'wait',
      title: 'Not scanned yet',
      sentence,
      checks: [],
      next: [wait],
    }
  }
  const sentence = `It pays one of your addresses in block ${height} on ${NETWORKS[network].name}. The block was scanned, but no payment was stored.`
  const step = {
    kind: 'contact_operator',
    title: 'Request a rescan',
    detail: `For your administrator: paymesh chain rescan ${network} --mode ${known.mode} --from ${height} --to ${height}`,
    id: null,
  } as const
  return { verdict: 'not_stored', tone: 'bad', title: 'Scanned, but not stored', sentence, checks: [], next: [step] }
}

const iso = (at: number): string => new Date(at).toISOString()

/** A stored payment of the asking workspace. `words` is the text of `explainPayment`. */
interface PaymentScene {
  readonly payment: Payment
  readonly invoice: Invoice | null
  readonly words: string
  readonly catalog: Pick<Catalog, 'asset'>
}

/** The verdict on a payment: whether it counts, and if not, why. Pure. */
function transactionRuling({ payment, invoice, words, catalog }: PaymentScene): Ruling {
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

function uncounted(
  { payment, words }: PaymentScene,
  invoice: Invoice,
  row: LedgerRow | undefined,
  amount: string,
): Ruling {
  const { terms, state } = invoice
  const paymentMethod = activePaymentMethod(state)
  const methodText =
    paymentMethod === null ? 'no coin yet' : `${paymentMethod.symbol} on ${NETWORKS[paymentMethod.network].name}`
  const reason = row?.uncountedReason ?? payment.uncountedReason
  const reached = `${amount} arrived at an address of invoice #${terms.number}`
  if (reason === 'wrong_network') {
    const sentence = `${reached}, on ${NETWORKS[payment.network].name}. The invoice is for ${methodText}. You own this address on both networks, so the money is safe.`
    return { verdict: 'wrong_network', tone: 'bad', title: 'Not applied: sent on the wrong network', sentence }
  }
  if (reason === 'wrong_asset' || reason === 'inactive_payment_method') {
    const sentence = `${reached}, which is for ${methodText}. The money is in your wallet.`
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
