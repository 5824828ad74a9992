import type { FiatCode } from '#shared/domain/enumerations.ts'
import { FIAT_EXPONENT, formatFiat, parseFiat } from '#shared/domain/money/fiat.ts'

/** An amount entered into a money field. */
export type TypedAmount =
  | { readonly kind: 'empty' | 'form' | 'low' | 'high' }
  /** Plain decimal text with exactly the currency's decimals. */
  | { readonly kind: 'amount'; readonly value: string }

/** Bounds as plain decimal text; null = none. */
interface Bounds {
  readonly min: string | null
  readonly max: string | null
}

/**
 * Parses one number with at most one separator, dot or comma, and at most the currency's decimals. Grouped digits are refused:
 * `1.250` is twelve hundred and fifty for one reader and one and a quarter for another.
 */
export function readTypedAmount(text: string, currency: FiatCode, { min, max }: Bounds): TypedAmount {
  const written = text.trim()
  if (written === '') return { kind: 'empty' }
  const exponent = FIAT_EXPONENT[currency]
  const match = /^([0-9]{1,12})(?:[.,]([0-9]+))?$/.exec(written)
  const fraction = match?.[2] ?? ''
  if (match === null || fraction.length > exponent) return { kind: 'form' }
  const whole = (match[1] ?? '').replace(/^0+(?=[0-9])/, '')
  const minor = parseFiat(fraction === '' ? whole : `${whole}.${fraction}`, currency)
  if (minor === 0n) return { kind: 'form' }
  if (min !== null && minor < parseFiat(min, currency)) return { kind: 'low' }
  if (max !== null && minor > parseFiat(max, currency)) return { kind: 'high' }
  return { kind: 'amount', value: formatFiat(minor, currency) }
}
