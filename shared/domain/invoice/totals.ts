import type { PaymentObservation } from './invoice-event.ts'
import { activePaymentMethod, type InvoiceState, type LedgerRow, type Quote } from './model.ts'
import { isLeftOut } from './quote-match.ts'
import { latestQuote, quoteFor } from './quote-window.ts'

/** Sums of an invoice in base units of the chosen asset, from live payments only. */
interface Totals {
  /** Everything counted, late money included: what `received.amount` shows. */
  readonly receivedBase: bigint
  /** The confirmed part of `receivedBase`. */
  readonly confirmedBase: bigint
  /** The eligible part of `receivedBase`; decides between pending, partial and confirming. */
  readonly seenBase: bigint
  /** Eligible and confirmed; decides paid and overpaid. */
  readonly settledBase: bigint
  /** The eligible part that was not late: only it makes an invoice partial. */
  readonly onTimeBase: bigint
  /** The eligible part with separate rows; `invoice.partial` announces it. */
  readonly announceableBase: bigint
  /** Amount due; zero until an asset is chosen. */
  readonly dueBase: bigint
}

/** Sums the ledger. The only place that adds payments up; no other code increments a sum. */
export function totals(state: InvoiceState): Totals {
  const live = state.ledger.filter((row) => row.counted && isLive(row))
  const eligible = live.filter((row) => row.eligible)
  const othersSeen = state.others?.seenBase ?? 0n
  const othersConfirmed = state.others?.confirmedBase ?? 0n
  const announceableBase = sum(eligible)
  return {
    receivedBase: sum(live) + othersSeen,
    confirmedBase: sum(live.filter(isConfirmed)) + othersConfirmed,
    seenBase: announceableBase + othersSeen,
    settledBase: sum(eligible.filter(isConfirmed)) + othersConfirmed,
    onTimeBase: sum(eligible.filter((row) => !row.late)) + othersSeen,
    announceableBase,
    dueBase: dueQuote(state)?.amountBase ?? 0n,
  }
}

/** A payment that is still on its chain; replaced, dropped and orphaned ones are not. */
export function isLive(row: Pick<LedgerRow | PaymentObservation, 'state'>): boolean {
  return row.state === 'detected' || row.state === 'confirmed'
}

/** True once the invoice was paid; the payments that paid it are not checked again. */
export function isSettled(state: Pick<InvoiceState, 'status'>): boolean {
  return state.status === 'paid' || state.status === 'overpaid'
}

/** Base units that settle the invoice: the amount due minus the tolerance, never below one. */
export function neededBase(state: InvoiceState, dueBase: bigint): bigint {
  const needed = dueBase - (activePaymentMethod(state)?.policy.toleranceBase ?? 0n)
  return needed > 0n ? needed : 1n
}

/** Oldest first, ties by transfer key: the order in which payments are checked, whatever order they were stored in. */
export function byFirstSeen(
  left: Pick<LedgerRow, 'firstSeenAt' | 'payment'>,
  right: Pick<LedgerRow, 'firstSeenAt' | 'payment'>,
): number {
  if (left.firstSeenAt !== right.firstSeenAt) return left.firstSeenAt - right.firstSeenAt
  if (left.payment === right.payment) return 0
  return left.payment < right.payment ? -1 : 1
}

/**
 * The quote of the earliest payment; it applies to all payments of the invoice. Dust claims no quote. Without
 * payments it is the latest quote. Once paid, a payment that vanished later still counts here: it fixed the settled price.
 */
function dueQuote(state: InvoiceState): Quote | null {
  const lock = activePaymentMethod(state)
  if (lock === null) return null
  const settled = isSettled(state)
  const evaluated = state.ledger
    .filter((row) => row.counted && row.eligible && row.acceptedBase === null && !isLeftOut(lock, row))
    .filter((row) => isLive(row) || (settled && row.confirmed))
    .sort(byFirstSeen)
  for (const row of evaluated) {
    const quote = quoteFor(lock, row)
    if (quote !== null) return quote
  }
  return latestQuote(lock)
}

function sum(rows: readonly LedgerRow[]): bigint {
  return rows.reduce((total, row) => total + (row.acceptedBase ?? row.amountBase), 0n)
}

function isConfirmed(row: LedgerRow): boolean {
  return row.state === 'confirmed'
}
