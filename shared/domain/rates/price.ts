import { compare, type Decimal, divide, multiply } from '#shared/domain/money/money.ts'

/** Decimals kept by every division of a price; products and means are exact. */
const QUOTIENT_DECIMALS = 20

/** Significant digits of a published price: a relative error below 10⁻¹³, far inside any spread. */
const PUBLISHED_DIGITS = 14

/** Longest text and widest exponent that is parsed as a price; more is noise, not precision. */
const MAX_LENGTH = 40
const MAX_EXPONENT = 30

const PRICE_PATTERN = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** A second opinion, of an aggregator or a person, is about a price when it is this close to it. */
export const CONFIRMED_WITHIN: Decimal = { digits: 3n, scale: 2 }

const HALF: Decimal = { digits: 5n, scale: 1 }
const MAX_SPREAD: Decimal = { digits: 1n, scale: 2 }
const ONE: Decimal = { digits: 1n, scale: 0 }

/**
 * Parses a price text as exchanges write it, exponents included (`1e-05`). Null for zero, signs, `nan`, `""`,
 * thousands separators and anything longer than 40 characters: such a price is treated as missing, never as 0 or 1.
 */
export function parsePrice(text: string): Decimal | null {
  const match = text.length > MAX_LENGTH ? null : PRICE_PATTERN.exec(text)
  if (match === null) return null
  const [, whole = '', fraction = '', exponentText = '0'] = match
  const exponent = smallInteger(exponentText)
  if (exponent > MAX_EXPONENT || exponent < -MAX_EXPONENT) return null
  const digits = BigInt(whole + fraction)
  if (digits === 0n) return null
  const scale = fraction.length - exponent
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/**
 * The middle of a book: exact mean of bid and ask. Null when the book is crossed or wider than 1 % of its middle,
 * which means that there is no trading.
 */
export function midOf(bid: Decimal, ask: Decimal): Decimal | null {
  if (compare(bid, ask) > 0) return null
  const mid = mean(bid, ask)
  return compare(difference(ask, bid), multiply(mid, MAX_SPREAD)) > 0 ? null : mid
}

/** Exact mean of two prices. */
export function mean(left: Decimal, right: Decimal): Decimal {
  return multiply(add(left, right), HALF)
}

/** One over a price, to 20 decimals: USD per EUR ↔ EUR per USD. */
export function inverse(price: Decimal): Decimal {
  return quotient(ONE, price)
}

/** `left ÷ right` to 20 decimals. */
export function quotient(left: Decimal, right: Decimal): Decimal {
  return divide(left, right, QUOTIENT_DECIMALS)
}

/** The published form of a price: cut to its first 14 significant digits, so that products of two stay readable. */
export function publishable(price: Decimal): Decimal {
  const excess = price.digits.toString().length - PUBLISHED_DIGITS
  if (excess <= 0) return price
  if (excess > price.scale) return { digits: price.digits / 10n ** BigInt(price.scale), scale: 0 }
  return { digits: price.digits / 10n ** BigInt(excess), scale: price.scale - excess }
}

/** Whether `|price ÷ reference − 1|` exceeds `limit`, decided without a division. */
export function deviatesMoreThan(price: Decimal, reference: Decimal, limit: Decimal): boolean {
  return compare(difference(price, reference), multiply(reference, limit)) > 0
}

/** `|left − right|`, exact. */
function difference(left: Decimal, right: Decimal): Decimal {
  const gap = add(left, { digits: -right.digits, scale: right.scale })
  return gap.digits < 0n ? { digits: -gap.digits, scale: gap.scale } : gap
}

function add(left: Decimal, right: Decimal): Decimal {
  if (left.scale < right.scale) return add(right, left)
  return { digits: left.digits + right.digits * 10n ** BigInt(left.scale - right.scale), scale: left.scale }
}

/** Decimal text of at most three digits as a number: an exponent, never money. */
function smallInteger(text: string): number {
  const negative = text.startsWith('-')
  let value = 0
  for (const digit of text.replace(/^[+-]/, '')) value = value * 10 + '0123456789'.indexOf(digit)
  return negative ? -value : value
}
