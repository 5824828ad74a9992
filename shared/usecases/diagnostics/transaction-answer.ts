import { activeLock } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { amountText } from './exception-evidence.ts'
import type { Answer, Check, NextStep, Ruling } from './explain-answer.ts'
import type { FoundTransaction } from './find-transaction.ts'
import { transactionRuling } from './transaction-ruling.ts'

interface Scene {
  readonly found: FoundTransaction
  readonly invoice: Invoice | null
  readonly exceptionId: string | null
  readonly catalog: Pick<Catalog, 'asset'>
}

/** What became of a transaction, in the eyes of the workspace that asks. Pure. */
export function transactionAnswer(scene: Scene): Answer {
  const { found, invoice } = scene
  const { own } = found
  const base = { transfer: own, invoiceId: invoice?.terms.id ?? null, looked: found.looked }
  if (own === null) return { ...base, ...withoutPayment(found) }
  const told = found.known?.stored.find(({ id }) => id === own.id)
  const ruling = transactionRuling({ payment: own, invoice, words: told?.words ?? '', catalog: scene.catalog })
  const checks = checksOf(own, invoice, scene, ruling)
  return { ...base, ...ruling, checks, next: stepsOf(own, scene, ruling.verdict) }
}

function checksOf(
  payment: Payment,
  invoice: Invoice | null,
  { found, catalog }: Scene,
  ruling: Ruling,
): readonly Check[] {
  const told = found.known?.stored.find(({ id }) => id === payment.id)
  const lock = invoice === null ? null : activeLock(invoice.state)
  const where = payment.block === null ? 'in no block yet' : `block ${payment.block.height}`
  const stands = payment.state === 'detected' || payment.state === 'confirmed'
  const counts = ruling.verdict === 'counted' || ruling.verdict === 'waiting'
  const checks: Check[] = [
    {
      ok: stands,
      title: stands ? 'The transaction exists and succeeded' : `The transaction is ${payment.state}`,
      detail: `${payment.network}, ${where}, ${told?.confirmations ?? 0} confirmations, ${payment.requiredConfirmations} needed`,
    },
    payment.asset === null
      ? { ok: false, title: 'The token is not accepted', detail: `Contract ${payment.contract ?? 'unknown'}` }
      : {
          ok: true,
          title: `The coin is genuine ${catalog.asset(payment.asset).symbol}`,
          detail:
            payment.contract === null
              ? 'The network’s own coin'
              : `Contract ${payment.contract}, matched by contract and not by name`,
        },
    { ok: true, title: 'The address is yours', detail: payment.toAddress },
  ]
  if (invoice === null || lock === null) {
    checks.push({
      ok: false,
      title: 'No invoice asked for it',
      detail: 'Nobody held the address, or asked for this amount, at that time',
    })
  } else {
    const same = payment.asset === lock.asset
    const network = payment.network === lock.network
    const asked = `Invoice: ${lock.symbol} on ${lock.network}. Payment: ${amountText(payment, catalog)} on ${payment.network}.`
    checks.push({
      ok: same,
      title: same ? 'Coin and network fit' : network ? 'The coin differs' : 'The network differs',
      detail: asked,
    })
    const inTime = payment.firstSeenAt <= invoice.state.expiresAt
    const times = `First seen ${iso(payment.firstSeenAt)}, deadline ${iso(invoice.state.expiresAt)}`
    checks.push({
      ok: inTime ? true : counts,
      title: inTime ? 'It came in time' : 'It came after the deadline',
      detail: times,
    })
  }
  checks.push({ ok: counts, title: counts ? 'So it counts' : 'So it did not count', detail: told?.words ?? '' })
  return checks
}

function stepsOf(payment: Payment, { invoice, exceptionId }: Scene, verdict: Answer['verdict']): readonly NextStep[] {
  const steps: NextStep[] = []
  if (exceptionId !== null)
    steps.push({
      kind: 'open_exception',
      title: 'Decide in the inbox',
      detail: 'Accept it with a reason, reject it, or leave a note.',
      id: exceptionId,
    })
  if (payment.invoiceId === null && payment.state === 'confirmed')
    steps.push({
      kind: 'attach',
      title: 'Count it on an invoice',
      detail: 'Needs the invoice’s number and a reason; shown before it is done.',
      id: payment.id,
    })
  if (verdict === 'waiting')
    steps.push({ kind: 'wait', title: 'Wait', detail: 'It counts by itself once it is confirmed.', id: null })
  if (exceptionId !== null)
    steps.push({
      kind: 'return',
      title: 'Return it',
      detail: 'Send it back from your own wallet; ask the customer for an address first.',
      id: invoice?.terms.id ?? null,
    })
  if (invoice !== null)
    steps.push({
      kind: 'open_invoice',
      title: `Open invoice #${invoice.terms.number}`,
      detail: `It is ${invoice.state.status}.`,
      id: invoice.terms.id,
    })
  return steps
}

/** Nothing of it is stored for this workspace. */
function withoutPayment({
  known,
  isOwn,
  looked,
  silent,
}: FoundTransaction): Omit<Answer, 'transfer' | 'invoiceId' | 'looked'> {
  const asked = `${looked.length} ${looked.length === 1 ? 'network' : 'networks'}`
  const mute = silent.length === 0 ? '' : ` No answer from ${silent.join(', ')}, which may know it.`
  const none = { checks: [], next: [] } as const
  if (known === null) {
    const sentence = `No transaction with this id on ${asked} with a node here.${mute} It may not be mined yet, or be of another network.`
    return { verdict: 'not_found', tone: 'plain', title: 'Not found', sentence, ...none }
  }
  const { node, network } = known
  if (node === 'unconfirmed') {
    const sentence = `A node of ${network} has it, but no block does yet. It may still be replaced or dropped.`
    const wait = {
      kind: 'wait',
      title: 'Wait',
      detail: 'It is looked at again as soon as it is in a block.',
      id: null,
    } as const
    return { verdict: 'not_mined', tone: 'wait', title: 'Not in a block yet', sentence, checks: [], next: [wait] }
  }
  if (typeof node === 'object' && !node.succeeded) {
    const sentence = `It is in block ${node.height} of ${network} and failed there: it moved nothing.`
    return { verdict: 'failed', tone: 'bad', title: 'The transaction failed', sentence, ...none }
  }
  if (!isOwn) {
    const where = typeof node === 'object' ? ` in block ${node.height}` : ''
    const sentence = `The transaction is on ${network}${where} and pays no address of this workspace.`
    const check = {
      ok: false,
      title: 'It pays no address of yours',
      detail: 'Compare the address in the customer’s wallet with that of the invoice.',
    }
    return { verdict: 'not_yours', tone: 'plain', title: 'Not for you', sentence, checks: [check], next: [] }
  }
  const height = typeof node === 'object' ? node.height : 0
  if ((known.scannerHeight ?? -1) < height) {
    const sentence = `It pays an address of yours in block ${height} of ${network}. The scanner stands at block ${known.scannerHeight ?? 'none'} and comes to it by itself.`
    const wait = { kind: 'wait', title: 'Wait', detail: 'Nothing is lost: every block is read.', id: null } as const
    return {
      verdict: 'not_scanned',
      tone: 'wait',
      title: 'The scanner is not there yet',
      sentence,
      checks: [],
      next: [wait],
    }
  }
  const sentence = `It pays an address of yours in block ${height} of ${network}, which was read, but nothing is stored of it.`
  const step = {
    kind: 'ask_operator',
    title: 'Ask for a rescan',
    detail: `Whoever runs this installation: paymesh chain rescan ${network} --mode ${known.mode} --from ${height} --to ${height}`,
    id: null,
  } as const
  return { verdict: 'not_stored', tone: 'bad', title: 'Read, but not stored', sentence, checks: [], next: [step] }
}

const iso = (at: number): string => new Date(at).toISOString()
