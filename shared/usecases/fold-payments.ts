import {
  activeLock,
  currentQuote,
  type InvoiceState,
  type LedgerRow,
  type Ms,
  type PaymentObservation,
} from '#shared/domain/invoice/model.ts'
import type { Invoice } from './ports/invoices.ts'
import type { Payment, UncountedReason } from './ports/payments.ts'
import type { WorkspaceRepository } from './ports/tenancy.ts'
import { applySpread, type RateReader } from './read-rate.ts'

/** A payment first seen in time in the mempool must be mined this soon after the deadline, else it is late. */
const MEMPOOL_GRACE_MS = 24 * 3_600_000

/** What the judgement of late payments needs. */
export interface ObserveDeps {
  readonly rates: Pick<RateReader, 'rateAt'>
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
}

/** What the fold decided about one stored payment; the shape that `markApplied` stores. */
export interface AppliedPayment {
  readonly key: string
  readonly version: number
  readonly counted: boolean
  readonly uncountedReason: UncountedReason | null
  readonly late: boolean
}

/**
 * Shows stored payments to the state machine. Payments of the locked asset that are new to the ledger and came after
 * the promised time carry the rate at their first sight, with the spread of the quote they are compared with.
 * Tokens that we know but do not accept have no asset and are left out.
 */
export async function observePayments(
  deps: ObserveDeps,
  invoice: Invoice,
  payments: readonly Payment[],
): Promise<readonly PaymentObservation[]> {
  const known = new Set(invoice.state.ledger.map((row) => row.payment))
  const promisedUntil = promiseEnd(invoice.state)
  const observations: PaymentObservation[] = []
  for (const payment of payments) {
    if (payment.asset === null) continue
    const isLate = payment.firstSeenAt > promisedUntil && !known.has(payment.key)
    observations.push({
      payment: payment.key,
      version: payment.version,
      state: payment.state,
      asset: payment.asset,
      network: payment.network,
      matchKey: payment.matchKey,
      amountBase: payment.amountBase,
      firstSeenAt: payment.firstSeenAt,
      minedTooLate: minedTooLate(payment, invoice.state.expiresAt),
      simulated: payment.kind === 'simulated',
      rateSeen: isLate ? await rateSeen(deps, invoice, payment) : null,
    })
  }
  return observations
}

/** What the ledger of a state says about each payment that was folded into it, for storing beside the payment. */
export function appliedPayments(state: InvoiceState, payments: readonly Payment[]): readonly AppliedPayment[] {
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  return payments.map((payment) => judged(state, payment, rows.get(payment.key)))
}

/** True when storing the judgement would change the payment or clear its dirty mark. */
export function needsMark(payment: Payment, applied: AppliedPayment): boolean {
  return (
    payment.dirtyAt !== null ||
    payment.counted !== applied.counted ||
    payment.uncountedReason !== applied.uncountedReason ||
    payment.late !== applied.late
  )
}

function judged(state: InvoiceState, payment: Payment, row: LedgerRow | undefined): AppliedPayment {
  const late = row?.late ?? false
  const reason = uncountedReason(state, payment, row)
  return { key: payment.key, version: payment.version, counted: reason === null, uncountedReason: reason, late }
}

function uncountedReason(state: InvoiceState, payment: Payment, row: LedgerRow | undefined): UncountedReason | null {
  const foreign = foreignReason(state, payment)
  if (foreign !== null) return row?.counted === true && row.eligible ? null : foreign
  if (state.status === 'cancelled') return 'cancelled'
  // Absent from the ledger although it is the right money: it is part of the row that sums up all others.
  if (row === undefined) return state.others === null ? 'unmatched' : null
  if (!row.counted) return 'inactive_lock'
  if (row.eligible) return null
  return row.late ? 'late' : 'out_of_quote'
}

function foreignReason(state: InvoiceState, payment: Payment): UncountedReason | null {
  const lock = activeLock(state)
  if (lock === null || payment.asset === null) return payment.uncountedReason ?? 'wrong_asset'
  if (payment.network !== lock.network) return 'wrong_network'
  if (payment.asset === lock.asset) return null
  return state.locks.some((other) => other.asset === payment.asset && other.matchKey === payment.matchKey)
    ? 'inactive_lock'
    : 'wrong_asset'
}

function promiseEnd(state: InvoiceState): Ms {
  return Math.min(state.expiresAt, currentQuote(state)?.expiresAt ?? state.expiresAt)
}

/** Bitcoin-like payments may be seen in time and mined days later, when the price is another. */
function minedTooLate(payment: Payment, expiresAt: Ms): boolean {
  if (payment.block === null || payment.firstSeenAt > expiresAt) return false
  return payment.block.time > expiresAt + MEMPOOL_GRACE_MS
}

async function rateSeen(deps: ObserveDeps, invoice: Invoice, payment: Payment): Promise<string | null> {
  const lock = activeLock(invoice.state)
  if (lock === null || payment.asset !== lock.asset || payment.network !== lock.network) return null
  const workspace = await deps.workspaces.findById(invoice.terms.workspaceId)
  const rate = await deps.rates.rateAt({
    asset: lock.asset,
    fiat: invoice.terms.fiat.currency,
    arsSeries: workspace?.policy.arsSeries ?? 'crypto',
    at: payment.firstSeenAt,
  })
  return rate === null ? null : applySpread(rate, currentQuote(invoice.state)?.provenance.spreadBps ?? 0)
}
