import type { MarketRate } from '#shared/domain/books/movements.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type FoldPlace, placeOf } from '#shared/domain/invoice/fold-reading.ts'
import type { PaymentObservation } from '#shared/domain/invoice/invoice-event.ts'
import {
  currentQuote,
  type InvoiceState,
  type LedgerRow,
  type Ms,
  type PaymentMethod,
} from '#shared/domain/invoice/model.ts'
import { quoteHolding, quoteOpenedBy, seenSinceOffer } from '#shared/domain/invoice/quote-window.ts'
import { holdingMethod, isDust, isLive } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment, UncountedReason } from '#shared/ports/payments.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { deadlinesUntil, type PositionDeps } from './deadlines.ts'

/** A payment seen in the mempool in time must be mined this soon after the deadline, otherwise it is late. */
const MEMPOOL_GRACE_MS = 24 * 3_600_000

/** Dependencies of checking late payments. */
export type ObserveDeps = Uses<'rates'>

/** The decision about one stored payment, in the shape that `markApplied` stores. */
export interface AppliedPayment {
  readonly key: string
  readonly version: number
  readonly counted: boolean
  readonly uncountedReason: UncountedReason | null
  readonly late: boolean
  readonly place: FoldPlace
  /** The market's price when the payment was first seen; only on the first decision about it, null without a rate. */
  readonly market?: MarketRate | null
}

/**
 * Presents stored payments to the state machine. Payments of a quoted asset that are new to the ledger and arrived outside
 * the quote's time carry the rate at which they were first seen, with the spread and the peso series of the quote they are compared with.
 * Known but unaccepted tokens have no asset; they are left out unless an operator lists them in `accepted`, and from
 * then on always included, because the ledger contains them.
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
    // Checked once, when the payment first enters the ledger.
    const mayBeLate = payment.kind === 'onchain' || invoice.state.status === 'expired'
    const isNew = !known.has(payment.key) && mayBeLate
    observations.push(observationOf(invoice.state, payment, isNew ? await seenRate(payment) : null))
  }
  return observations
}

/** The same for payments that the ledger already contains: they were checked when they entered it, and need no rate. */
export function observeKnownPayments(invoice: Invoice, payments: readonly Payment[]): readonly PaymentObservation[] {
  const known = new Set(invoice.state.ledger.map((row) => row.payment))
  return payments
    .filter((payment) => isShown(payment, known, new Set()))
    .map((payment) => observationOf(invoice.state, payment, null))
}

function isShown(payment: Payment, known: ReadonlySet<string>, accepted: ReadonlySet<string>): boolean {
  return payment.asset !== null || known.has(payment.key) || accepted.has(payment.key)
}

function observationOf(state: InvoiceState, payment: Payment, rateSeen: string | null): PaymentObservation {
  return {
    payment: payment.key,
    version: payment.version,
    state: payment.state,
    asset: payment.asset,
    network: payment.network,
    matchKey: payment.matchKey,
    amountBase: payment.amountBase,
    firstSeenAt: seenSinceOffer(state, payment),
    minedTooLate: minedTooLate(payment, state.expiresAt),
    simulated: payment.kind === 'simulated',
    rateSeen,
  }
}

/**
 * The time up to which the chain is known for a decision about an invoice: the position of its scanner, and less where that scanner
 * orphaned an in-time payment, because it is before the payment's block again and may still find it in another one.
 * Read for invoices past their deadline that money has reached: only these can step back to `expired`.
 */
export async function chainKnownUntil(
  deps: PositionDeps,
  invoice: Invoice,
  payments: readonly Payment[],
  now: Ms,
): Promise<Ms> {
  const { status, expiresAt, ledger } = invoice.state
  if (now < expiresAt || (status !== 'partial' && status !== 'confirming')) return now
  const rows = new Map(ledger.map((row) => [row.payment, row]))
  const undone = payments.filter((payment) => {
    const row = rows.get(payment.key)
    return payment.state === 'orphaned' && row !== undefined && isLive(row) && !row.late
  })
  return Math.min(await deadlinesUntil(deps, invoice.state, now), ...undone.map((payment) => payment.firstSeenAt))
}

/** The ledger's result for each payment folded into the state under a `foldKey`, to be stored with the payment. */
export function appliedPayments(
  state: InvoiceState,
  payments: readonly Payment[],
  key: string,
): readonly AppliedPayment[] {
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  return payments.map((payment) => evaluated(state, payment, { row: rows.get(payment.key), key }))
}

/** True when storing the check would change the payment or clear its dirty mark. */
export function needsMark(payment: Payment, applied: AppliedPayment): boolean {
  return (
    payment.dirtyAt !== null ||
    needsMarket(payment, applied) ||
    payment.counted !== applied.counted ||
    payment.uncountedReason !== applied.uncountedReason ||
    payment.late !== applied.late ||
    payment.place !== applied.place
  )
}

/** Dust is worth nothing in the books: a flood of it reads no rates. */
const needsMarket = (
  { asset, market }: Payment,
  { uncountedReason }: Pick<AppliedPayment, 'uncountedReason'>,
): boolean => asset !== null && market === undefined && uncountedReason !== 'dust'

/** The market's price of a coin in the currency of an invoice, with the peso series that it was quoted in; null where none was published in the 120 s before. */
export function marketAt(
  { rates }: ObserveDeps,
  { state, terms }: Pick<Invoice, 'state' | 'terms'>,
  asset: AssetId,
  at: Ms,
): Promise<MarketRate | null> {
  const arsSeries = currentQuote(state)?.provenance.arsSeries ?? 'crypto'
  return rates.rateAt({ asset, fiat: terms.fiat.currency, arsSeries, at })
}

/** The decisions with the market price of those payments that were never valued. Payments of one block share a look-up. */
export async function withMarket(
  deps: ObserveDeps,
  { state, terms }: Invoice,
  rows: readonly { readonly payment: Payment; readonly applied: AppliedPayment }[],
): Promise<readonly AppliedPayment[]> {
  const found = new Map<string, MarketRate | null>()
  const valued: AppliedPayment[] = []
  for (const { payment, applied } of rows) {
    const { asset, firstSeenAt: at } = payment
    const key = `${asset} ${at}`
    if (asset !== null && needsMarket(payment, applied) && !found.has(key))
      found.set(key, await marketAt(deps, { state, terms }, asset, at))
    valued.push(needsMarket(payment, applied) ? { ...applied, market: found.get(key) ?? null } : applied)
  }
  return valued
}

function evaluated(
  state: InvoiceState,
  payment: Payment,
  { row, key }: { readonly row: LedgerRow | undefined; readonly key: string },
): AppliedPayment {
  const reason = row === undefined ? reasonWithoutRow(state, payment) : reasonOf(state, row)
  return {
    key: payment.key,
    version: payment.version,
    counted: reason === null,
    uncountedReason: reason,
    late: row?.late ?? false,
    place: placeOf(state, observationOf(state, payment, null), { row, key }),
  }
}

function reasonOf(state: InvoiceState, row: LedgerRow): UncountedReason | null {
  if (row.acceptedBase !== null) return null
  if (row.uncountedReason !== null) return row.uncountedReason
  if (state.status === 'cancelled') return 'cancelled'
  return row.eligible ? null : 'late'
}

/** Dust does not count, and payments beyond the last row may be in the sum of all others; unknown tokens have no row and keep their reason. */
function reasonWithoutRow(state: InvoiceState, payment: Payment): UncountedReason | null {
  if (payment.asset === null) return payment.uncountedReason ?? 'wrong_asset'
  const paymentMethod = state.paymentMethods[holdingMethod(state.paymentMethods, payment) ?? -1]
  const { amountBase } = payment
  const isSmall =
    paymentMethod !== undefined && isDust(paymentMethod, { amountBase, simulated: payment.kind === 'simulated' })
  return isSmall ? 'dust' : payment.uncountedReason
}

/** First seen after the deadline or outside every quote's time, so that the price at that moment decides. */
function isOffPromise(state: InvoiceState, paymentMethod: PaymentMethod, at: Ms): boolean {
  return at > state.expiresAt || quoteHolding(paymentMethod, at) === null
}

/** Bitcoin-like payments may be seen in time and mined days later, at another price. */
function minedTooLate(payment: Payment, expiresAt: Ms): boolean {
  if (payment.block === null || payment.firstSeenAt > expiresAt) return false
  return payment.block.time > expiresAt + MEMPOOL_GRACE_MS
}

/** Dust never gets a row that could store a check, so no rate is read for it: a flood of dust must cost nothing. */
function createRateLookup(deps: ObserveDeps, { state, terms }: Invoice): (payment: Payment) => Promise<string | null> {
  return async (payment) => {
    const paymentMethod = state.paymentMethods[holdingMethod(state.paymentMethods, payment) ?? -1]
    const at = seenSinceOffer(state, payment)
    if (paymentMethod === undefined || !isOffPromise(state, paymentMethod, at)) return null
    if (isDust(paymentMethod, { amountBase: payment.amountBase, simulated: false })) return null
    const { arsSeries = 'crypto', spreadBps } = quoteOpenedBy(paymentMethod, at).provenance
    const rate = await deps.rates.rateAt({ asset: paymentMethod.asset, fiat: terms.fiat.currency, arsSeries, at })
    return rate === null ? null : applySpread(rate.fiatPerAsset, spreadBps)
  }
}
