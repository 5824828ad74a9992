import { holdingLock, isDust, isLeftOut } from '#shared/domain/invoice/lock-match.ts'
import type { AssetLock, InvoiceState, LedgerRow, Ms, PaymentObservation } from '#shared/domain/invoice/model.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment, UncountedReason } from '#shared/ports/payments.ts'
import type { WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { applySpread, type RateReader } from '#shared/usecases/rates/read-rate.ts'

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
 * Shows stored payments to the state machine. Payments of a locked asset that are new to the ledger and came outside
 * the promised time carry the rate at their first sight, with the spread of the quote they are compared with.
 * Tokens that we know but do not accept have no asset; they are left out unless a person names them in `accepted`, and from
 * then on shown for good, because the ledger knows them.
 */
export async function observePayments(
  deps: ObserveDeps,
  invoice: Invoice,
  payments: readonly Payment[],
  accepted: ReadonlySet<string> = new Set(),
): Promise<readonly PaymentObservation[]> {
  const known = new Set(invoice.state.ledger.map((row) => row.payment))
  const seenRate = createRateLookup(deps, invoice)
  const shown = payments.filter((payment) => isShown(payment, known, accepted))
  const observations: PaymentObservation[] = []
  for (const payment of shown) {
    // Judged once, when the payment first enters the ledger.
    const isNew = !known.has(payment.key) && payment.kind === 'onchain'
    observations.push(observationOf(invoice, payment, isNew ? await seenRate(payment) : null))
  }
  return observations
}

/** The same for payments that the ledger already knows: they were judged when they entered it, and need no rate. */
export function observeKnownPayments(invoice: Invoice, payments: readonly Payment[]): readonly PaymentObservation[] {
  const known = new Set(invoice.state.ledger.map((row) => row.payment))
  return payments
    .filter((payment) => isShown(payment, known, new Set()))
    .map((payment) => observationOf(invoice, payment, null))
}

function isShown(payment: Payment, known: ReadonlySet<string>, accepted: ReadonlySet<string>): boolean {
  return payment.asset !== null || known.has(payment.key) || accepted.has(payment.key)
}

function observationOf(invoice: Invoice, payment: Payment, rateSeen: string | null): PaymentObservation {
  return {
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
    rateSeen,
  }
}

/**
 * Up to when the chain is known as far as an invoice's payments tell: a scanner that took back a payment on time stands
 * before its block again, whatever the clock says, and may still find it in another one.
 */
export function chainKnownUntil(invoice: Invoice, payments: readonly Payment[], now: Ms): Ms {
  const rows = new Map(invoice.state.ledger.map((row) => [row.payment, row]))
  const undone = payments.filter((payment) => {
    const row = rows.get(payment.key)
    return payment.state === 'orphaned' && row !== undefined && isLive(row) && !row.late
  })
  return Math.min(now, ...undone.map((payment) => payment.firstSeenAt))
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
  const reason = row === undefined ? reasonWithoutRow(state, payment) : reasonOf(state, row)
  return {
    key: payment.key,
    version: payment.version,
    counted: reason === null,
    uncountedReason: reason,
    late: row?.late ?? false,
  }
}

function reasonOf(state: InvoiceState, row: LedgerRow): UncountedReason | null {
  if (row.acceptedBase !== null) return null
  if (row.uncountedReason !== null) return row.uncountedReason
  if (state.status === 'cancelled') return 'cancelled'
  return row.eligible ? null : 'late'
}

/**
 * Dust counts for nothing, payments beyond the last row are in the sum of all others; foreign tokens are nowhere and stay
 * what they are.
 */
function reasonWithoutRow(state: InvoiceState, payment: Payment): UncountedReason | null {
  if (payment.asset === null) return payment.uncountedReason ?? 'wrong_asset'
  const lock = state.locks[holdingLock(state.locks, payment) ?? -1]
  const { amountBase } = payment
  const isSmall = lock !== undefined && isLeftOut(lock, { amountBase, simulated: payment.kind === 'simulated' })
  return isSmall ? 'dust' : payment.uncountedReason
}

/** The lock whose asset, network and address a payment matches. */
function lockOf(state: InvoiceState, payment: Payment): AssetLock | null {
  const fits = (lock: AssetLock) =>
    lock.asset === payment.asset && lock.network === payment.network && lock.matchKey === payment.matchKey
  return state.locks.findLast(fits) ?? null
}

/** First seen after the deadline or in no quote's window, so that the price of that moment decides. */
function isOffPromise(state: InvoiceState, lock: AssetLock, at: Ms): boolean {
  return at > state.expiresAt || !lock.quotes.some((quote) => quote.lockedAt <= at && at <= quote.expiresAt)
}

/** Bitcoin-like payments may be seen in time and mined days later, when the price is another. */
function minedTooLate(payment: Payment, expiresAt: Ms): boolean {
  if (payment.block === null || payment.firstSeenAt > expiresAt) return false
  return payment.block.time > expiresAt + MEMPOOL_GRACE_MS
}

/** Dust never gets a row in which a judgement could be kept, so no rate is read for it: a flood of it must cost nothing. */
function createRateLookup(deps: ObserveDeps, { state, terms }: Invoice): (payment: Payment) => Promise<string | null> {
  let workspace: ReturnType<WorkspaceRepository['findById']> | undefined
  return async (payment) => {
    const lock = lockOf(state, payment)
    if (lock === null || !isOffPromise(state, lock, payment.firstSeenAt)) return null
    if (isDust(lock, { amountBase: payment.amountBase, simulated: false })) return null
    workspace ??= deps.workspaces.findById(terms.workspaceId)
    const rate = await deps.rates.rateAt({
      asset: lock.asset,
      fiat: terms.fiat.currency,
      arsSeries: (await workspace)?.policy.arsSeries ?? 'crypto',
      at: payment.firstSeenAt,
    })
    return rate === null ? null : applySpread(rate, lock.quotes.at(-1)?.provenance.spreadBps ?? 0)
  }
}
