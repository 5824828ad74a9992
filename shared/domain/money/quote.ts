import type { FiatCode } from '../enumerations.ts'
import { parseDecimal } from './decimal.ts'
import { FIAT_EXPONENT } from './fiat.ts'

/** Input of an amount due. */
export interface QuoteInput {
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
