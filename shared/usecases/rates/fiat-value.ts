import type { FiatCode } from '#shared/domain/enumerations.ts'
import { divide, FIAT_EXPONENT, formatUnits, multiply, parseDecimal } from '#shared/domain/money/money.ts'

/** Value of an amount in minor units at a price per unit, rounded down. */
export function fiatMinor(base: bigint, decimals: number, fiatPerAsset: string, currency: FiatCode): bigint {
  const value = multiply(parseDecimal(formatUnits(base, decimals)), parseDecimal(fiatPerAsset))
  return divide(value, { digits: 1n, scale: 0 }, FIAT_EXPONENT[currency]).digits
}

/** Difference from one price to another, signed, in percent with one decimal and U+2212: `−3.1`. Display only. */
export function driftPercent(from: string, to: string): string {
  const [a, b] = [parseDecimal(from), parseDecimal(to)]
  if (a.digits === 0n) return '0.0'
  const scale = 10n ** 3n
  const left = b.digits * 10n ** BigInt(a.scale) - a.digits * 10n ** BigInt(b.scale)
  const right = a.digits * 10n ** BigInt(b.scale)
  const permille = (left * scale) / right
  const size = permille < 0n ? -permille : permille
  return `${permille < 0n ? '−' : '+'}${size / 10n}.${size % 10n}`
}
