import type { FiatCode } from '../enumerations.ts'

/** Decimals of each fiat currency, ISO 4217 "minor unit" column. The Chilean peso has none. */
export const FIAT_EXPONENT: Readonly<Record<FiatCode, number>> = {
  USD: 2,
  EUR: 2,
  DOP: 2,
  MXN: 2,
  COP: 2,
  BRL: 2,
  GBP: 2,
  ARS: 2,
  CLP: 0,
  PEN: 2,
}

/**
 * Minor units of a fiat amount: `('12.5', 'USD')` → `1250n`. Throws RangeError on anything but a plain decimal number
 * and on more decimals than the currency has.
 */
export function parseFiat(value: string, currency: FiatCode): bigint {
  return parseUnits(value, FIAT_EXPONENT[currency])
}

/** Value of an amount of a coin at a price per unit, minor units, rounded half up; an amount below zero gives the same value with its sign. */
export function fiatAtRate(base: bigint, decimals: number, fiatPerAsset: string, currency: FiatCode): bigint {
  const rate = parseDecimal(fiatPerAsset)
  return halfUp(base * rate.digits * 10n ** BigInt(FIAT_EXPONENT[currency]), 10n ** BigInt(decimals + rate.scale))
}

/** The same with a minus sign for amounts below zero: `-12.50`. */
export function formatSignedFiat(minor: bigint, currency: FiatCode): string {
  return minor < 0n ? `-${formatFiat(-minor, currency)}` : formatFiat(minor, currency)
}

/** Prints minor units with exactly the currency's decimals: `12.50` for USD, `12` for CLP. */
export function formatFiat(minor: bigint, currency: FiatCode): string {
  if (minor < 0n) throw new RangeError('an amount is never negative')
  const exponent = FIAT_EXPONENT[currency]
  const padded = minor.toString().padStart(exponent + 1, '0')
  const cut = padded.length - exponent
  return exponent === 0 ? padded : `${padded.slice(0, cut)}.${padded.slice(cut)}`
}

/** Input of an amount due. */
interface QuoteInput {
  readonly fiatMinor: bigint
  readonly currency: FiatCode
  /** Fiat per one asset unit, plain decimal text, above zero. */
  readonly fiatPerAsset: string
  readonly decimals: number
  /** Decimals shown to a payer, at most `decimals`. */
  readonly displayDecimals: number
}

/**
 * Amount due in base units: fiat divided by rate, rounded up to the display precision, so that the amount a payer can type
 * is never below the exact price and above it by less than one display unit. Exact rational arithmetic.
 * Throws RangeError on a zero or malformed rate and when the display precision exceeds the asset's decimals.
 */
export function quoteAmountBase(input: QuoteInput): bigint {
  const rate = parseDecimal(input.fiatPerAsset)
  if (rate.digits === 0n) throw new RangeError('the rate is zero')
  if (input.displayDecimals > input.decimals)
    throw new RangeError('display precision exceeds the decimals of the asset')
  const numerator = input.fiatMinor * 10n ** BigInt(rate.scale + input.displayDecimals)
  const denominator = rate.digits * 10n ** BigInt(FIAT_EXPONENT[input.currency])
  const displayUnits = (numerator + denominator - 1n) / denominator
  return displayUnits * displayUnit(input)
}

/**
 * The smallest amount of fiat, in minor units, whose price reaches `leastBase`: one minor unit less is priced below it. Throws as
 * `quoteAmountBase` does.
 */
export function leastFiatFor(leastBase: bigint, input: Omit<QuoteInput, 'fiatMinor'>): bigint {
  const rate = parseDecimal(input.fiatPerAsset)
  if (rate.digits === 0n) throw new RangeError('the rate is zero')
  const unit = displayUnit(input)
  const steps = (leastBase + unit - 1n) / unit
  const numerator = (steps - 1n) * rate.digits * 10n ** BigInt(FIAT_EXPONENT[input.currency])
  return numerator / 10n ** BigInt(rate.scale + input.displayDecimals) + 1n
}

/** Base units of one step of the display precision: amounts that a payer can type are multiples of it. */
export function displayUnit({ decimals, displayDecimals }: Pick<QuoteInput, 'decimals' | 'displayDecimals'>): bigint {
  return 10n ** BigInt(decimals - displayDecimals)
}

/** An exact decimal number: `digits / 10^scale`. Never negative here; prices and amounts have no sign. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Longest decimal text that is parsed, so that hostile input cannot make huge integers. */
const MAX_LENGTH = 120

const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/

/**
 * Reads `0`, `12` or `12.340` exactly. Throws RangeError on signs, exponents, leading zeros, empty parts,
 * separators, white space and text beyond 120 characters.
 */
export function parseDecimal(text: string): Decimal {
  const match = text.length <= MAX_LENGTH ? DECIMAL.exec(text) : null
  if (match === null) throw new RangeError('not a plain decimal number')
  const fraction = match[2] ?? ''
  return { digits: BigInt(`${match[1]}${fraction}`), scale: fraction.length }
}

/** Prints the shortest form: no exponent, no trailing zeros, `0.5` and not `.5`. */
export function formatDecimal(value: Decimal): string {
  const padded = value.digits.toString().padStart(value.scale + 1, '0')
  const whole = padded.slice(0, padded.length - value.scale)
  const fraction = padded.slice(padded.length - value.scale).replace(/(?<!0)0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** The exact product. */
export function multiply(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, scale: left.scale + right.scale }
}

/** The quotient with `digits` decimals, rounded down. Throws RangeError when the divisor is zero. */
export function divide(dividend: Decimal, divisor: Decimal, digits: number): Decimal {
  const { numerator, denominator } = ratio(dividend, divisor, digits)
  return { digits: numerator / denominator, scale: digits }
}

/** The quotient with `digits` decimals, rounded up. Throws RangeError when the divisor is zero. */
export function divideUp(dividend: Decimal, divisor: Decimal, digits: number): Decimal {
  const { numerator, denominator } = ratio(dividend, divisor, digits)
  return { digits: (numerator + denominator - 1n) / denominator, scale: digits }
}

/** The larger, and the smaller, of two amounts. */
export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** `numerator / denominator` to the nearest whole number, halves away from zero; the denominator is above zero. */
export function halfUp(numerator: bigint, denominator: bigint): bigint {
  const size = numerator < 0n ? -numerator : numerator
  const rounded = (2n * size + denominator) / (2n * denominator)
  return numerator < 0n ? -rounded : rounded
}

/** Negative, zero or positive as `left` is below, equal to or above `right`; scales need not match. */
export function compare(left: Decimal, right: Decimal): -1 | 0 | 1 {
  const a = left.digits * 10n ** BigInt(right.scale)
  const b = right.digits * 10n ** BigInt(left.scale)
  if (a === b) return 0
  return a < b ? -1 : 1
}

function ratio(dividend: Decimal, divisor: Decimal, digits: number): { numerator: bigint; denominator: bigint } {
  if (divisor.digits === 0n) throw new RangeError('division by zero')
  return {
    numerator: dividend.digits * 10n ** BigInt(divisor.scale + digits),
    denominator: divisor.digits * 10n ** BigInt(dividend.scale),
  }
}

/**
 * Base units of a decimal amount of an asset with `decimals` decimals: `('1.5', 6)` → `1500000n`.
 * Throws RangeError on anything but a plain decimal number and on more decimals than the asset has; nothing is rounded.
 */
export function parseUnits(decimal: string, decimals: number): bigint {
  const { digits, scale } = parseDecimal(decimal)
  if (scale > decimals) throw new RangeError(`more than ${decimals} decimals`)
  return digits * 10n ** BigInt(decimals - scale)
}

/** The one canonical decimal text of an amount in base units: shortest form, no trailing zeros. `parseUnits` reads it back exactly. */
export function formatUnits(base: bigint, decimals: number): string {
  if (base < 0n) throw new RangeError('an amount is never negative')
  return formatDecimal({ digits: base, scale: decimals })
}
