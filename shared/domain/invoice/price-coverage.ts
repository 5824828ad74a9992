import type { PaymentMethod, Quote } from './model.ts'
import { latestQuote } from './quote-window.ts'

const BPS = 10_000n

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
 * Compares money with the price of an invoice. Each quote prices the whole invoice, so money pays the share of the price that it is of its own quote's
 * whole amount, and keeps it when a later quote prices the rest. Exact: only the last division is rounded, up to a base unit.
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
  const askedBase = quote.rest?.restBase === exactBase ? quote.amountBase : exactBase
  // The rounding of the amount that the payer was asked for does not make an exact rest short.
  const isExact = sumBase >= exactBase && sumBase < askedBase
  const neededBase = paidBase + exactBase - toleranceAt(paymentMethod, quote)
  return {
    dueBase: paidBase + (isExact ? sumBase : askedBase),
    neededBase: larger(neededBase, 1n),
    mostBase: paidBase + exactBase + harmlessBase,
  }
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

function unitsOf(whole: bigint, money: readonly ValuedMoney[]): bigint {
  return money.reduce((total, { quote, amountBase }) => total + amountBase * (whole / wholeBase(quote)), 0n)
}

/** The price in units in which the base unit of every quote is a whole number of them. */
function priceUnits(paymentMethod: PaymentMethod): bigint {
  return [...new Set(paymentMethod.quotes.map(wholeBase))].reduce((product, amount) => product * amount, 1n)
}
