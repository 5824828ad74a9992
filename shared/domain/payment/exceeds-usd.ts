import { compare, FIAT_EXPONENT, multiply, parseDecimal } from '#shared/domain/money/money.ts'

import type { InvoiceWorth } from './confirmation-tiers.ts'

/**
 * Whether an amount is above this many whole US dollars, exact to the minor unit. An amount above zero without a rate is above every
 * threshold, because it cannot be shown to be small.
 */
export function exceedsUsd({ fiat, fiatPerUsd }: InvoiceWorth, usd: number): boolean {
  if (fiat.minor <= 0n) return false
  const perUsd = fiat.currency === 'USD' ? '1' : fiatPerUsd
  if (perUsd === null) return true
  const worth = { digits: fiat.minor, scale: FIAT_EXPONENT[fiat.currency] }
  return compare(worth, multiply(parseDecimal(perUsd), { digits: BigInt(usd), scale: 0 })) > 0
}
