import type { AssetId } from '../enumerations.ts'
import { larger, smaller } from '../money/money.ts'
import { claimedBase, type RefundClaim, refundableBase } from '../payment/refundable.ts'
import type { PaymentObservation } from './invoice-event.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  type LedgerRow,
  type Ms,
  type PaymentMethod,
  type Quote,
  type UncountedReason,
} from './model.ts'
import {
  baseOf,
  coverage,
  latestQuote,
  type PriceShare,
  payableBase,
  quoteAt,
  quoteOpenedBy,
  unpaidShare,
  type ValuedMoney,
  wholeBase,
  withinDrift,
} from './quote-window.ts'

/** Sums of an invoice in base units of the chosen asset, from live payments only. */
interface Totals {
  /** Everything counted, late money included: what `received.amount` shows. */
  readonly receivedBase: bigint
  /** The confirmed part of `receivedBase`. */
  readonly confirmedBase: bigint
  /** The eligible part of `receivedBase`, less what refunds claim of it; zero where they claim more, because a reorganisation took it. */
  readonly seenBase: bigint
  /** Eligible and confirmed, less what refunds claim of it; zero where they claim more. */
  readonly settledBase: bigint
  /** The eligible part that was not late: only it makes an invoice partial. */
  readonly onTimeBase: bigint
  /** The eligible part with separate rows; `invoice.partial` announces it. */
  readonly announceableBase: bigint
  /** Amount due: what was seen pays at the quotes it came under, and the rest at the current one. Zero until an asset is chosen. */
  readonly dueBase: bigint
  /** Seen base units that settle the invoice, never below one: the amount due less the tolerance. */
  readonly neededBase: bigint
  /** The most base units that are not too much: more makes a paid invoice overpaid. */
  readonly mostBase: bigint
}

/** What part of an invoice's money does for its price. */
interface Settlement {
  /** It settles the invoice, with the tolerance. */
  readonly isEnough: boolean
  /** It is below the amount due, whatever the tolerance. */
  readonly isShort: boolean
  /** It is above everything that the payer can have been asked for. */
  readonly isTooMuch: boolean
  /** The money, base units; below zero where refunds claim more. */
  readonly base: bigint
  readonly neededBase: bigint
  readonly mostBase: bigint
  readonly dueBase: bigint
}

/** Money of a paid invoice that left its chain: its rows, and the base units that had none. */
interface LostMoney {
  readonly rows: readonly LedgerRow[]
  readonly unlistedBase: bigint
}

const NOTHING_LOST: LostMoney = { rows: [], unlistedBase: 0n }

/** The confirmed part, the part that was not late, or everything that was seen; all of it eligible. */
type Part = 'seen' | 'settled' | 'onTime'

/** Sums the ledger. The only place that adds payments up; no other code increments a sum. */
export function totals(state: InvoiceState): Totals {
  const live = state.ledger.filter((row) => row.counted && isLive(row))
  const { base: seenBase, dueBase, neededBase, mostBase } = settlement(state, 'seen')
  const { base: settledBase } = settlement(state, 'settled')
  return {
    receivedBase: sum(live) + (state.others?.seenBase ?? 0n),
    confirmedBase: sum(live.filter(isConfirmed)) + (state.others?.confirmedBase ?? 0n),
    seenBase: larger(seenBase, 0n),
    settledBase: larger(settledBase, 0n),
    onTimeBase: sum(eligibleRows(state, 'onTime')) + othersOf(state, 'onTime'),
    announceableBase: sum(live.filter((row) => row.eligible)),
    dueBase,
    neededBase,
    mostBase,
  }
}

/**
 * Compares a part of the money with the price. Each part is compared on its own, because the amount due depends on the quotes under which the
 * money came. Nothing is enough until an asset is chosen. `lost` counts as if it were still there.
 */
export function settlement(state: InvoiceState, part: Part, { rows, unlistedBase } = NOTHING_LOST): Settlement {
  const paymentMethod = activePaymentMethod(state)
  if (paymentMethod === null)
    return { isEnough: false, isShort: true, isTooMuch: false, base: 0n, neededBase: 1n, mostBase: 0n, dueBase: 0n }
  const all = [...eligibleRows(state, part), ...rows]
  const othersBase = othersOf(state, part) + unlistedBase
  const base = sum(all) + othersBase - claimedOf(state)
  const { dueBase, neededBase, mostBase } = coverage(paymentMethod, valued(state, paymentMethod, all, othersBase))
  return {
    isEnough: base >= neededBase,
    isShort: base < dueBase,
    isTooMuch: base > mostBase,
    base,
    neededBase,
    mostBase,
    dueBase,
  }
}

/** The part of the price that eligible live money leaves unpaid: all of it, or its confirmed part. More than the price where refunds claim more than is there. */
export function unpaidOf(state: InvoiceState, paymentMethod: PaymentMethod, part: Exclude<Part, 'onTime'>): PriceShare {
  return unpaidShare(paymentMethod, valued(state, paymentMethod, eligibleRows(state, part), othersOf(state, part)))
}

/** A payment that is still on its chain; replaced, dropped and orphaned ones are not. */
export function isLive(row: Pick<LedgerRow | PaymentObservation, 'state'>): boolean {
  return row.state === 'detected' || row.state === 'confirmed'
}

/** True once the invoice was paid; the payments that paid it are not checked again. */
export function isSettled(state: Pick<InvoiceState, 'status'>): boolean {
  return state.status === 'paid' || state.status === 'overpaid'
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

/** Base units of the active coin that pay nothing because refunds claim them. */
export function claimedOf({ claimedBase: base = 0n }: Pick<InvoiceState, 'claimedBase'>): bigint {
  return base
}

/**
 * The folded state with what refunds claim of the money that pays the price. They take other confirmed money of the coin first, which pays
 * nothing: dust, a payment at no price, or one that came too late; so a refund of that changes nothing. `observations` has every payment of the
 * invoice until it is paid, and later those of the ledger.
 */
export function withClaim(
  state: InvoiceState,
  observations: readonly PaymentObservation[],
  refunds: readonly RefundClaim[],
): InvoiceState {
  const before = claimedOf(state)
  const asset = activePaymentMethod(state)?.asset
  const claimed = asset === undefined ? 0n : claimedBase(asset, refunds)
  const base = isSettled(state) ? smaller(claimed, before) : claimed
  const left = asset === undefined || base === 0n || isSettled(state) ? 0n : besideBase(state, asset, observations)
  const onPrice = larger(base - left, 0n)
  return onPrice === before ? state : { ...state, claimedBase: onPrice }
}

/** Confirmed base units of a coin that pay nothing. */
function besideBase({ ledger, others }: InvoiceState, asset: AssetId, seen: readonly PaymentObservation[]): bigint {
  const paying = new Set(ledger.filter((row) => row.counted && row.eligible).map(({ payment }) => payment))
  const beside = seen.filter(({ payment }) => !paying.has(payment))
  return refundableBase(asset, beside, []) - (others?.confirmedBase ?? 0n)
}

/**
 * Money that an operator accepted has a value of today; payments without rows have that of the least favourable quote. What refunds claim is taken off
 * the oldest money, so that later money never changes of which it is.
 */
function valued(
  state: InvoiceState,
  paymentMethod: PaymentMethod,
  rows: readonly LedgerRow[],
  unlisted: bigint,
): readonly ValuedMoney[] {
  const money = rows.map((row) => ({
    quote: row.acceptedBase === null ? quoteAt(paymentMethod, row.firstSeenAt) : latestQuote(paymentMethod),
    amountBase: row.acceptedBase ?? row.amountBase,
  }))
  const all = [...money, { quote: dearestQuote(paymentMethod), amountBase: unlisted }]
  const { left, overBase } = withoutClaim(all, claimedOf(state))
  return overBase === 0n ? left : [...left, { quote: latestQuote(paymentMethod), amountBase: -overBase }]
}

/** Takes a claim off the first money of a list, base units, and says how much of the claim is above all of it. */
export function withoutClaim<T extends { readonly amountBase: bigint }>(
  money: readonly T[],
  claim: bigint,
): { readonly left: readonly T[]; readonly overBase: bigint } {
  let overBase = claim
  const left = money.map((one) => {
    const isPart = overBase < one.amountBase
    const taken = isPart ? overBase : one.amountBase
    overBase -= taken
    return { ...one, amountBase: one.amountBase - taken }
  })
  return { left, overBase }
}

function eligibleRows({ ledger }: Pick<InvoiceState, 'ledger'>, part: Part): readonly LedgerRow[] {
  return ledger.filter((row) => {
    if (!row.counted || !row.eligible || !isLive(row)) return false
    if (part === 'settled') return isConfirmed(row)
    return part === 'seen' || !row.late
  })
}

/** Payments without rows were on time. */
function othersOf({ others }: Pick<InvoiceState, 'others'>, part: Part): bigint {
  return (part === 'settled' ? others?.confirmedBase : others?.seenBase) ?? 0n
}

/** The quote that asks for the most base units: at its rate payments without rows are valued. */
export function dearestQuote(paymentMethod: PaymentMethod): Quote {
  return paymentMethod.quotes.reduce(
    (most, quote) => (wholeBase(quote) > wholeBase(most) ? quote : most),
    latestQuote(paymentMethod),
  )
}

function sum(rows: readonly LedgerRow[]): bigint {
  return rows.reduce((total, row) => total + (row.acceptedBase ?? row.amountBase), 0n)
}

function isConfirmed(row: LedgerRow): boolean {
  return row.state === 'confirmed'
}

/**
 * Index of the payment method of a payment: same asset, network and address, held when the payment was first seen. A payment
 * seen after the payer switched to another asset still belongs to the old one, whose address stays watched. Null when none fits.
 */
export function holdingMethod(
  paymentMethods: readonly PaymentMethod[],
  seen: Pick<PaymentObservation, 'asset' | 'network' | 'matchKey' | 'firstSeenAt'>,
): number | null {
  const fits = (paymentMethod: PaymentMethod) =>
    paymentMethod.asset === seen.asset &&
    paymentMethod.network === seen.network &&
    paymentMethod.matchKey === seen.matchKey
  const from = (paymentMethod: PaymentMethod) => paymentMethod.from <= seen.firstSeenAt
  const until = (paymentMethod: PaymentMethod) => paymentMethod.to === null || seen.firstSeenAt < paymentMethod.to
  const held = paymentMethods.findLastIndex(
    (paymentMethod) => fits(paymentMethod) && from(paymentMethod) && until(paymentMethod),
  )
  if (held >= 0) return held
  const earlier = paymentMethods.findLastIndex((paymentMethod) => fits(paymentMethod) && from(paymentMethod))
  if (earlier >= 0) return earlier
  // Block times lag behind our clock: a transfer may carry a time shortly before its quote.
  const first = paymentMethods.findIndex(fits)
  return first >= 0 ? first : null
}

/** Why money that matches none of the payment methods, or not the one that received funds first, is kept out of the sums. */
export function foreignReason(
  paymentMethods: readonly PaymentMethod[],
  seen: PaymentObservation,
  hold: number | null,
): UncountedReason {
  if (hold !== null) return 'inactive_payment_method'
  const sameAddress = paymentMethods.filter((paymentMethod) => paymentMethod.matchKey === seen.matchKey)
  if (sameAddress.length === 0) return 'unmatched'
  return sameAddress.some((paymentMethod) => paymentMethod.network === seen.network) ? 'wrong_asset' : 'wrong_network'
}

/**
 * Too small to matter: below the chain's dust or 0.1 % of the first amount due. Simulated money never is. Dust is left out of every sum, unless it
 * completes its invoice (`completingDust`) or an operator counts it. Depends only on frozen figures, so the result never changes for a transfer.
 */
export function isDust(paymentMethod: PaymentMethod, seen: Pick<LedgerRow, 'amountBase' | 'simulated'>): boolean {
  return !seen.simulated && seen.amountBase < dustBound(paymentMethod)
}

/** The smallest amount that is not dust, base units: the chain's bound or 0.1 % of the first amount due, rounded up. */
export function dustBound(paymentMethod: PaymentMethod): bigint {
  const thousandth = ((paymentMethod.quotes[0]?.amountBase ?? 0n) + 999n) / 1_000n
  return thousandth > paymentMethod.policy.dustBase ? thousandth : paymentMethod.policy.dustBase
}

/**
 * Base units that the payer is asked to send now; every page, link, wallet and API takes them from here. Zero where nothing is due, and
 * where only a new quote can name an amount by which the payment would be found. Sending it settles the invoice and is never too much.
 */
export function requestedBase(state: InvoiceState, at: Ms): bigint {
  return needsNewAmount(state, at) ? 0n : restToSend(state)
}

/**
 * True when the amount identifies the invoice and what is left to pay is not the amount of the latest quote, for instance because a payment came
 * under an earlier one: a transfer of it would be found by nobody, so the payer needs a new quote.
 */
export function needsNewAmount(state: InvoiceState, at: Ms): boolean {
  const paymentMethod = activePaymentMethod(state)
  const rest = restToSend(state)
  if (paymentMethod === null || rest === 0n) return false
  const isByAmount =
    paymentMethod.hold?.kind === 'amount' ||
    (paymentMethod.priorHold !== undefined && at <= paymentMethod.priorHold.until)
  return isByAmount && rest !== latestQuote(paymentMethod).amountBase
}

function restToSend(state: InvoiceState): bigint {
  const paymentMethod = activePaymentMethod(state)
  const isOpen = state.status === 'pending' || state.status === 'partial'
  if (paymentMethod === null || !isOpen) return 0n
  return payableBase(paymentMethod, baseOf(latestQuote(paymentMethod), unpaidOf(state, paymentMethod, 'seen')))
}

/**
 * The ledger row of a payment at this observation, before it is decided whether it counts. Lateness is checked when the
 * payment is first applied and is then permanent, with two exceptions: a payment seen in time in the mempool must
 * also be mined in time, so an unconfirmed row becomes late otherwise; so does one that returns after another payer got the use of the link.
 */
export function classifyPayment(
  state: InvoiceState,
  paymentMethod: PaymentMethod | null,
  seen: PaymentObservation,
  known: LedgerRow | undefined,
): LedgerRow {
  if (known === undefined) return firstEvaluation(state, paymentMethod, seen)
  const row = { ...known, version: seen.version, state: seen.state }
  const minedLate = seen.minedTooLate && !seen.simulated && !known.late && known.state !== 'confirmed'
  const isUseGone = paymentMethod?.policy.isUseGone === true
  if (!(minedLate || isUseGone) || isSettled(state)) return row
  return { ...row, late: true, eligible: known.acceptedBase !== null || known.countedByHand === true }
}

function firstEvaluation(
  state: InvoiceState,
  paymentMethod: PaymentMethod | null,
  seen: PaymentObservation,
): LedgerRow {
  const late = isLate(state, paymentMethod, seen)
  return {
    payment: seen.payment,
    version: seen.version,
    state: seen.state,
    amountBase: seen.amountBase,
    firstSeenAt: seen.firstSeenAt,
    counted: false,
    uncountedReason: null,
    acceptedBase: null,
    late,
    rateSeen: seen.rateSeen,
    eligible: paymentMethod !== null && (!late || maySettleLate(state, paymentMethod, seen)),
    simulated: seen.simulated,
    detected: false,
    confirmed: false,
    lateAnnounced: false,
  }
}

/**
 * First seen after the deadline, or in time but mined too long after it. Processing time is irrelevant, unless another payer got the
 * invoice's use of its payment link meanwhile. A simulated payment is late only if it was simulated on an expired invoice.
 */
export function isLate(
  state: Pick<InvoiceState, 'expiresAt' | 'status'>,
  paymentMethod: PaymentMethod | null,
  seen: PaymentObservation,
): boolean {
  if (paymentMethod?.policy.isUseGone === true) return true
  if (seen.simulated && state.status !== 'expired') return false
  return seen.firstSeenAt > state.expiresAt || seen.minedTooLate
}

function maySettleLate(state: InvoiceState, paymentMethod: PaymentMethod, seen: PaymentObservation): boolean {
  if (paymentMethod.policy.isUseGone === true || seen.minedTooLate) return false
  if (seen.firstSeenAt > state.expiresAt + paymentMethod.policy.lateGraceMs) return false
  return withinDrift(quoteOpenedBy(paymentMethod, seen.firstSeenAt), seen.rateSeen, paymentMethod)
}
