import type { FiatCode } from '../enumerations.ts'
import type { InvoiceTerms, ReportingRate } from '../invoice/model.ts'
import { type Decimal, divide, formatDecimal, multiply, parseDecimal } from '../money/decimal.ts'
import { FIAT_EXPONENT } from '../money/fiat.ts'

/** Decimals of a stored rate: an amount of a billion keeps every minor unit. */
const RATE_DIGITS = 18

/** Units of `to` for one unit of `from`, from the price of each for one US dollar; rounded down at 18 decimals. Throws RangeError on a price of zero. */
export function fiatCrossRate(fromPerUsd: string, toPerUsd: string): string {
  return formatDecimal(divide(parseDecimal(toPerUsd), parseDecimal(fromPerUsd), RATE_DIGITS))
}

/**
 * The price of an invoice in minor units of a reporting currency, rounded half up: the price itself where it is in that currency, otherwise
 * converted at the rate that was stored when the invoice was created. Null without such a rate.
 */
export function reportedMinor(
  { fiat, reporting }: Pick<InvoiceTerms, 'fiat' | 'reporting'>,
  currency: FiatCode,
): bigint | null {
  if (fiat.currency === currency) return fiat.minor
  return reporting?.currency === currency ? convertMinor(fiat, reporting) : null
}

function convertMinor({ minor, currency }: InvoiceTerms['fiat'], to: ReportingRate): bigint {
  const amount: Decimal = { digits: minor, scale: FIAT_EXPONENT[currency] }
  const { digits, scale } = multiply(amount, parseDecimal(to.rate))
  // One digit more than the currency has decides the rounding.
  const tenths = (digits * 10n ** BigInt(FIAT_EXPONENT[to.currency] + 1)) / 10n ** BigInt(scale)
  return (tenths + 5n) / 10n
}
