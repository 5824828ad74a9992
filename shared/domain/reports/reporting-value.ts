import type { FiatCode } from '../enumerations.ts'
import type { InvoiceTerms } from '../invoice/model.ts'
import { divide, FIAT_EXPONENT, formatDecimal, halfUp, parseDecimal } from '../money/money.ts'

/** Decimals of a stored rate: an amount of a billion keeps every minor unit. */
const RATE_DIGITS = 18

/** Units of `to` for one unit of `from`, from the price of each for one US dollar; rounded down at 18 decimals. Throws RangeError on a price of zero. */
export function fiatCrossRate(fromPerUsd: string, toPerUsd: string): string {
  return formatDecimal(divide(parseDecimal(toPerUsd), parseDecimal(fromPerUsd), RATE_DIGITS))
}

/**
 * An amount of an invoice (unless given, its price), in minor units of its currency, as minor units of a reporting currency, halves rounded away from zero: the amount itself
 * where the invoice is in that currency, otherwise converted at the rate that was stored when the invoice was created. Null without such a rate.
 */
export function reportedMinor(
  { fiat, reporting }: Pick<InvoiceTerms, 'fiat' | 'reporting'>,
  currency: FiatCode,
  minor = fiat.minor,
): bigint | null {
  if (fiat.currency === currency) return minor
  if (reporting?.currency !== currency) return null
  const rate = parseDecimal(reporting.rate)
  const numerator = minor * rate.digits * 10n ** BigInt(FIAT_EXPONENT[currency])
  return halfUp(numerator, 10n ** BigInt(FIAT_EXPONENT[fiat.currency] + rate.scale))
}
