import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import { must } from '../kernel/violation.ts'
import type { SimChain } from '../world/chain.ts'
import { isLostBlock, isSkipped, isUnprovable } from '../world/dropped.ts'
import type { Sim } from '../world/sim.ts'

const SETTLED = new Set(['paid', 'overpaid'])

/** L1, S5, S14: the status is the one that the chain's own sums ask for. */
export function checkOutcome(sim: Sim, invoice: InvoiceDocument): void {
  const { _id: id, status } = invoice
  const [waiting] = invoice.ledger.flatMap(({ payment, state }) => (state === 'detected' ? [payment] : []))
  if (status === 'confirming' && waiting !== undefined && isLeft(sim, invoice, waiting)) return
  must(!['new', 'pending', 'partial', 'confirming'].includes(status), 'L1', () => `invoice ${id} is still ${status}`)
  const paymentMethod = invoice.paymentMethods.findLast(({ to }) => to === null)
  const chain = paymentMethod === undefined ? undefined : sim.chains.get(`${invoice.mode}:${paymentMethod.network}`)
  if (
    paymentMethod === undefined ||
    chain === undefined ||
    invoice.ledger.some((row) => row.simulated || row.acceptedBase !== null)
  )
    return
  const due = BigInt(paymentMethod.quotes[0]?.amountBase ?? '0')
  const needed = due - BigInt(paymentMethod.policy.toleranceBase)
  const sums = chainSums(sim, chain, invoice)
  if (status === 'cancelled') return
  if (sums.onTime >= needed && !sums.moved) {
    must(SETTLED.has(status), 'L1', () => `invoice ${id} got ${sums.onTime} of ${needed} in time and is ${status}`)
    must(!invoice.paidLate, 'L1', () => `invoice ${id} was paid in time and says late`)
  }
  if (sums.all === sums.onTime && !sums.moved && SETTLED.has(status)) {
    // Up to the chain's dust above the price may have been asked for.
    const most = due + BigInt(paymentMethod.policy.sendableBase)
    const expected = sums.all > most ? 'overpaid' : 'paid'
    must(status === expected, 'S5', () => `invoice ${id} got ${sums.all} of ${due} and is ${status}`)
  }
  if (sums.all < needed && SETTLED.has(status)) {
    const published = invoice.exceptions.some(({ exception }) => exception === 'reorged')
    must(
      published,
      'S14',
      () => `invoice ${id} is ${status} with ${sums.all} of ${needed} on the chain, and nobody was told`,
    )
  }
  checkLateness(chain, invoice)
}

/** Whether a payment waits for a second node that has its block, of which there is none any more, and the inbox has its invoice. */
function isLeft(sim: Sim, { _id: id, mode }: InvoiceDocument, key: string): boolean {
  const payment = sim.store.documents('payments').find((row) => row['key'] === key) as unknown as PaymentDocument
  const chain = sim.chains.get(`${mode}:${payment.network}`)
  const isKnown = sim.store.documents('exceptions').some((row) => row['kind'] === 'stuck' && row['invoiceId'] === id)
  return chain !== undefined && payment.block != null && isLostBlock(chain, payment.block) && isKnown
}

/**
 * Base units on the chain for an invoice, from the world's own book; dust counts only where it completes. `moved`: something was ever taken back or
 * replaced, or cannot be checked from here.
 */
function chainSums(
  sim: Sim,
  chain: SimChain,
  invoice: InvoiceDocument,
): { onTime: bigint; all: bigint; moved: boolean } {
  const paymentMethod = invoice.paymentMethods.findLast(({ to }) => to === null)
  let onTime = 0n
  let all = 0n
  let moved = false
  let lastAt = 0
  const dust: { amountBase: bigint; at: number }[] = []
  for (const transfer of sim.book.transfers.values()) {
    if (transfer.invoiceId !== invoice._id || transfer.asset !== paymentMethod?.asset) continue
    if (
      paymentMethod.hold?.kind === 'amount' &&
      !paymentMethod.quotes.some(({ amountBase }) => amountBase === String(transfer.amountBase))
    )
      continue
    const block = chain.blockOf(transfer.txHash)
    const everMined = [...chain.everMined.values()].filter(({ txs }) =>
      txs.some(({ hash }) => hash === transfer.txHash),
    )
    if (block === null || everMined.length > 1 || isUnprovable(chain, block)) moved = true
    if (block === null) continue
    // What a person has to look for is not credited, and a wrong time is nobody's.
    if (isSkipped(sim, chain, transfer) || block.time > block.minedAt) moved = true
    if (isSkipped(sim, chain, transfer)) continue
    if (isDust(paymentMethod, transfer.amountBase)) {
      dust.push({ amountBase: transfer.amountBase, at: block.time })
      continue
    }
    lastAt = Math.max(lastAt, block.time)
    all += transfer.amountBase
    // Behind the end of its quote, money in a living invoice counts by the price of its moment: not checked here.
    const quoteEnds = paymentMethod.quotes.at(-1)?.expiresAt.getTime() ?? 0
    if (block.time > quoteEnds && block.time <= invoice.expiresAt.getTime()) moved = true
    if (block.time <= invoice.expiresAt.getTime()) onTime += transfer.amountBase
  }
  const due = BigInt(paymentMethod?.quotes[0]?.amountBase ?? '0')
  const missing = due - BigInt(paymentMethod?.policy.toleranceBase ?? '0') - all
  const rest = all > 0n && missing > 0n ? dust.filter(({ amountBase }) => amountBase >= missing) : []
  const [only] = rest
  if (only === undefined) return { onTime, all, moved }
  // One rest that came after everything else counts, in time or within the grace. Which of several does is left to the books, and so is
  // a rest whose block was replaced: it counts from when it was seen first.
  const isClear = rest.length === 1 && !chain.hasMempool && only.at > lastAt && !moved
  const late = only.at - invoice.expiresAt.getTime()
  if (isClear && late > (paymentMethod?.policy.lateGraceMs ?? 0)) return { onTime, all, moved }
  if (isClear && late > 0) return { onTime, all: all + only.amountBase, moved }
  return { onTime: onTime + only.amountBase, all: all + only.amountBase, moved: moved || !isClear }
}

/** L1: late is checked by the chain's time, whenever it was processed. Only chains without a mempool show it exactly. */
function checkLateness(chain: SimChain, invoice: InvoiceDocument): void {
  const paymentMethod = invoice.paymentMethods.findLast(({ to }) => to === null)
  for (const row of invoice.ledger) {
    const grace = invoice.expiresAt.getTime() + (paymentMethod?.policy.lateGraceMs ?? 0)
    // Dust that completes an invoice needs no price.
    const hasPrice =
      row.rateSeen !== null || (paymentMethod !== undefined && isDust(paymentMethod, BigInt(row.amountBase)))
    const evaluated = !row.late || !row.eligible || (hasPrice && row.firstSeenAt.getTime() <= grace)
    must(evaluated, 'S5', () => `late payment ${row.payment} counts without a price or after its grace`)
    const blocks = [...chain.everMined.values()].filter(({ txs }) =>
      txs.some(({ transfers }) => transfers.some(({ key }) => key === row.payment)),
    )
    const [only] = blocks
    if (only === undefined || blocks.length > 1 || only.time > only.minedAt) continue
    const late = only.time > invoice.expiresAt.getTime()
    const seen = row.firstSeenAt.getTime()
    must(
      chain.hasMempool || seen === only.time || isAhead(only.time, seen),
      'L1',
      () => `payment ${row.payment} of block time ${only.time} was first seen at ${seen}`,
    )
    if (!chain.hasMempool || !late)
      must(
        row.late === late || !row.counted,
        'L1',
        () =>
          `payment ${row.payment} of ${only.time} is ${row.late ? '' : 'not '}late for ${invoice.expiresAt.getTime()}`,
      )
  }
}

/** Below the chain's dust, or 0.1 % of the first price. */
function isDust({ quotes, policy }: InvoiceDocument['paymentMethods'][number], amountBase: bigint): boolean {
  return amountBase * 1_000n < BigInt(quotes[0]?.amountBase ?? '0') || amountBase < BigInt(policy.dustBase)
}

const isAhead = (blockTime: number, seen: number): boolean => seen < blockTime && blockTime - seen < 5_000
