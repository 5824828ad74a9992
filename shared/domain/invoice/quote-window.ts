import { compare, larger, multiply, parseDecimal } from '#shared/domain/money/money.ts'
import type { PaymentObservation } from './invoice-event.ts'
import { type InvoiceState, isHeld, type LedgerRow, type Ms, type PaymentMethod, type Quote } from './model.ts'

const BPS = 10_000n
/** Block times lag behind our clock: a transfer may carry a time this long before the quote it pays. */
export const CLOCK_LAG_MS = 120_000

/** The payment fields that choose a quote. */
type Sight = Pick<LedgerRow | PaymentObservation, 'firstSeenAt' | 'rateSeen' | 'simulated'>

/** The newest quote of a payment method. Throws RangeError on one without quotes, which no caller may build. */
export function latestQuote(paymentMethod: PaymentMethod): Quote {
  const quote = paymentMethod.quotes.at(-1)
  if (quote === undefined) throw new RangeError('a payment method has at least one quote')
  return quote
}

/** The newest quote that was open or over at `time`; the first one for earlier times, because clocks of chains differ from ours. */
export function quoteOpenedBy(paymentMethod: PaymentMethod, time: Ms): Quote {
  return (
    paymentMethod.quotes.findLast((quote) => quote.quotedAt <= time) ??
    paymentMethod.quotes[0] ??
    latestQuote(paymentMethod)
  )
}

/** When a quote of a payment method ends: earlier than promised only where the payer got a newer price of the coin on another network. */
export function endOfQuote({ repricedAt }: PaymentMethod, { quotedAt, expiresAt }: Quote): Ms {
  return repricedAt !== undefined && quotedAt < repricedAt && repricedAt < expiresAt ? repricedAt : expiresAt
}

/** The quote whose window holds `time`, the newest of several, or null. The first one also holds times shortly before it. */
export function quoteHolding(paymentMethod: PaymentMethod, time: Ms): Quote | null {
  const first = paymentMethod.quotes[0]
  if (first !== undefined && time < first.quotedAt && time >= first.quotedAt - CLOCK_LAG_MS) return first
  return (
    paymentMethod.quotes.findLast((quote) => quote.quotedAt <= time && time <= endOfQuote(paymentMethod, quote)) ?? null
  )
}

/**
 * When a payment was first seen, as far as that can be true: an address that is an invoice's for good was offered to nobody before its first quote, so
 * a miner or a node that states an earlier time is wrong, and the price of that time counts for nothing.
 */
export function seenSinceOffer(
  { paymentMethods }: Pick<InvoiceState, 'paymentMethods'>,
  { matchKey, firstSeenAt }: Pick<PaymentObservation, 'matchKey' | 'firstSeenAt'>,
): Ms {
  const [offer] = paymentMethods.find((one) => one.matchKey === matchKey && one.hold === undefined)?.quotes ?? []
  return offer === undefined ? firstSeenAt : later(firstSeenAt, offer.quotedAt - CLOCK_LAG_MS)
}

/** The quote at whose rate money first seen at `time` is valued, if it counts: the one that held then, otherwise the last one before. */
export function quoteAt(paymentMethod: PaymentMethod, time: Ms): Quote {
  return quoteHolding(paymentMethod, time) ?? quoteOpenedBy(paymentMethod, time)
}

/**
 * The quote that a payment may claim on its own: the one valid when it was first seen, otherwise the last one before
 * it within grace and drift of that quote's end, otherwise null. Later prices never change the result.
 */
export function quoteFor(paymentMethod: PaymentMethod, sight: Sight): Quote | null {
  const held = quoteHolding(paymentMethod, sight.firstSeenAt)
  if (held !== null) return held
  const last = quoteOpenedBy(paymentMethod, sight.firstSeenAt)
  if (sight.simulated) return last
  if (sight.firstSeenAt > endOfQuote(paymentMethod, last) + paymentMethod.policy.lateGraceMs) return null
  return withinDrift(last, sight.rateSeen, paymentMethod) ? last : null
}

/**
 * True when the rate when first seen had not fallen below the quoted one by more than the frozen bound.
 * A rate that moved in the merchant's favour always passes; an unknown rate never does.
 */
export function withinDrift(promised: Quote, rateSeen: string | null, paymentMethod: PaymentMethod): boolean {
  if (rateSeen === null) return false
  const floor = multiply(parseDecimal(promised.fiatPerAsset), {
    digits: BPS - BigInt(paymentMethod.policy.lateDriftBps),
    scale: 4,
  })
  return compare(parseDecimal(rateSeen), floor) >= 0
}

const DAY_MS = 24 * 3_600_000

/** Money for an invoice may be seen in time and mined up to a day after its end. */
const PAYABLE_AFTER_END_MS = DAY_MS

/** Longest life of an invoice, from its creation to its end: of `expires_in`, and of the setting for invoices without a coin. */
export const INVOICE_LIFE_MAX_MS = 30 * DAY_MS

/** How long a reused address takes exact amounts only, until the workspace states another time. */
export const QUARANTINE_DEFAULT_MS = 7 * DAY_MS
const QUARANTINE_MIN_MS = DAY_MS

/** A temporary claim, and the payment methods that share it. */
export interface HeldClaim {
  readonly claim: string
  readonly paymentMethods: readonly PaymentMethod[]
  /** Earliest end of the claim, by the block time of every chain concerned. */
  readonly dueAt: Ms
}

/** How long a claim is valid after its last quote when late money may settle its invoice for `lateGraceMs`: at least a day. */
export function heldFor(lateGraceMs: number): number {
  return later(PAYABLE_AFTER_END_MS, lateGraceMs)
}

/** How long an address that is free again takes exact amounts only: at least a day. */
export function quarantineFor(quarantineMs: number): number {
  return later(QUARANTINE_MIN_MS, quarantineMs)
}

/**
 * How long an address must not be offered after the record of what was offered was lost: until the longest invoice that it may belong to has ended, is
 * no longer payable, and its address would take any amount again.
 */
export function restAfterLoss(policy: { readonly lateGraceMs: number; readonly quarantineMs: number }): number {
  return INVOICE_LIFE_MAX_MS + heldFor(policy.lateGraceMs) + quarantineFor(policy.quarantineMs)
}

/** The valid temporary claims of an invoice, with their earliest end. Payment methods on one address share one claim. */
export function heldClaims(state: Pick<InvoiceState, 'paymentMethods' | 'expiresAt'>): readonly HeldClaim[] {
  const byClaim = new Map<string, PaymentMethod[]>()
  for (const paymentMethod of state.paymentMethods) {
    if (paymentMethod.hold === undefined || !isHeld(paymentMethod)) continue
    byClaim.set(paymentMethod.claim, [...(byClaim.get(paymentMethod.claim) ?? []), paymentMethod])
  }
  return [...byClaim].map(([claim, paymentMethods]) => ({
    claim,
    paymentMethods,
    dueAt: paymentMethods.map((paymentMethod) => dueAt(state.expiresAt, paymentMethod)).reduce(later),
  }))
}

/** The active payment method can be paid until the invoice ends, an earlier one until its quote ends. */
function dueAt(expiresAt: Ms, paymentMethod: PaymentMethod): Ms {
  const quoteEnd = latestQuote(paymentMethod).expiresAt
  return (paymentMethod.to === null ? later(expiresAt, quoteEnd) : quoteEnd) + (paymentMethod.hold?.heldMs ?? 0)
}

/** The later of two times. */
export const later = (left: Ms, right: Ms): Ms => (left > right ? left : right)

/** Money in the asset of a payment method, and the quote at whose rate it is valued. */
export interface ValuedMoney {
  readonly quote: Quote
  readonly amountBase: bigint
}

/** How far money covers a price. */
interface Coverage {
  /** Base units that pay the whole price: what was paid at earlier quotes, plus the rest at the quote that asks for it. */
  readonly dueBase: bigint
  /** The least base units that settle it: the exact rest, less the tolerance; never below one. */
  readonly neededBase: bigint
  /** The most base units that are not too much: whatever a payer can have been asked for. */
  readonly mostBase: bigint
}

/** A part of an invoice's price: `parts` of `whole`, exact. */
export interface PriceShare {
  readonly parts: bigint
  readonly whole: bigint
}

/** Base units of the whole price at the rate of a quote. */
export function wholeBase(quote: Quote): bigint {
  return quote.rest?.wholeBase ?? quote.amountBase
}

/**
 * Compares money with the price of an invoice. Each quote prices the whole invoice, so money pays the share that it is of the
 * whole amount of the quote it came under, and keeps it when a later quote prices the rest. Exact: only the last division is rounded, up to a base unit.
 */
export function coverage(paymentMethod: PaymentMethod, money: readonly ValuedMoney[]): Coverage {
  const whole = priceUnits(paymentMethod)
  const sums = new Map<Quote, bigint>()
  for (const { quote, amountBase } of money) sums.set(quote, (sums.get(quote) ?? 0n) + amountBase)
  const latest = latestQuote(paymentMethod)
  let unpaid = whole
  let paidBase = 0n
  for (const quote of paymentMethod.quotes) {
    const sumBase = sums.get(quote) ?? 0n
    const exactBase = baseOf(quote, { parts: unpaid, whole })
    if (quote === latest || sumBase >= exactBase) return bounds(paymentMethod, quote, { paidBase, sumBase, exactBase })
    unpaid -= sumBase * (whole / wholeBase(quote))
    paidBase += sumBase
  }
  throw new RangeError('a payment method has at least one quote')
}

/** The part of the price that money leaves unpaid; zero when it covers the price. */
export function unpaidShare(paymentMethod: PaymentMethod, money: readonly ValuedMoney[]): PriceShare {
  const whole = priceUnits(paymentMethod)
  const parts = whole - unitsOf(whole, money)
  return { parts: parts > 0n ? parts : 0n, whole }
}

/** True when money pays at least `bps` basis points of the price. No money never does. */
export function paysShare(paymentMethod: PaymentMethod, money: readonly ValuedMoney[], bps: number): boolean {
  const whole = priceUnits(paymentMethod)
  const parts = unitsOf(whole, money)
  return parts > 0n && parts * BPS >= whole * BigInt(bps)
}

/** A share of the price in base units of a quote, rounded up to a base unit. */
export function baseOf(quote: Quote, share: PriceShare): bigint {
  return shareOf(wholeBase(quote), share)
}

/** A share of an amount, rounded up. */
export function shareOf(amount: bigint, { parts, whole }: PriceShare): bigint {
  return (amount * parts + whole - 1n) / whole
}

/** The missing base units of a quote that still count as paid: the frozen tolerance is that of the first quote. */
export function toleranceAt(paymentMethod: PaymentMethod, quote: Quote): bigint {
  const first = paymentMethod.quotes[0] ?? quote
  return (paymentMethod.policy.toleranceBase * wholeBase(quote)) / wholeBase(first)
}

/**
 * What a payer is asked to send for an exact rest: rounded up to what can be typed, and at least what the chain lets one send. The latest
 * quote's own amount where that was made for this rest: it may identify the invoice among others.
 */
export function payableBase({ quotes, policy }: PaymentMethod, restBase: bigint): bigint {
  const quote = quotes.at(-1)
  if (quote !== undefined && restBase === (quote.rest?.restBase ?? quote.amountBase)) return quote.amountBase
  const { unitBase, sendableBase } = policy
  const leastBase = restBase < sendableBase ? sendableBase : restBase
  return ((leastBase + unitBase - 1n) / unitBase) * unitBase
}

/** What is above the price by no more than the rounding, the least sendable amount or the raise of a unique amount is harmless: a payer may have been asked for it. */
function bounds(
  paymentMethod: PaymentMethod,
  quote: Quote,
  { paidBase, sumBase, exactBase }: { readonly paidBase: bigint; readonly sumBase: bigint; readonly exactBase: bigint },
): Coverage {
  const { unitBase, sendableBase } = paymentMethod.policy
  const raisedBase = quote.rest === undefined ? 0n : quote.amountBase - quote.rest.restBase
  const harmlessBase = larger(raisedBase, larger(sendableBase, unitBase - 1n))
  const leftBase = quote.rest?.restBase === exactBase ? quote.amountBase : exactBase
  // The rounding of the amount that the payer was asked for does not make an exact rest short.
  const isExact = sumBase >= exactBase && sumBase < leftBase
  const neededBase = paidBase + exactBase - toleranceAt(paymentMethod, quote)
  return {
    dueBase: paidBase + (isExact ? sumBase : leftBase),
    neededBase: larger(neededBase, 1n),
    mostBase: paidBase + exactBase + harmlessBase,
  }
}

function unitsOf(whole: bigint, money: readonly ValuedMoney[]): bigint {
  return money.reduce((total, { quote, amountBase }) => total + amountBase * (whole / wholeBase(quote)), 0n)
}

/** The price in units in which the base unit of every quote is a whole number of them. */
function priceUnits(paymentMethod: PaymentMethod): bigint {
  return [...new Set(paymentMethod.quotes.map(wholeBase))].reduce((product, amount) => product * amount, 1n)
}
