import type { FiatCode } from '#shared/domain/enumerations.ts'
import { compare, FIAT_EXPONENT, multiply, parseDecimal } from '#shared/domain/money/money.ts'

/** Confirmations required on invoices worth at least `fromUsd`; the next tier ends it. */
export interface ConfirmationTier {
  /** Whole US dollars. */
  readonly fromUsd: number
  /** `finalized` waits for the chain's finality in addition to a count of blocks. */
  readonly confirmations: number | 'finalized'
}

/** Value of an invoice. */
export interface InvoiceWorth {
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
  /** Units of that currency per US dollar, of the rate that prices the quote; null when there is none. */
  readonly fiatPerUsd: string | null
}

/** Requirements of one tier on a payment. */
export interface RequestedConfirmations {
  readonly confirmations: number
  /** Its block must be finalized by the chain, in addition to the count. */
  readonly finality: boolean
}

/**
 * Requirements of a table on an invoice: the last tier whose threshold the invoice reaches, exact to the minor unit. Without a
 * value in US dollars it is the strictest tier. `finalized` also requires the highest count of the tiers below it, at least
 * `baseCount`, so that a higher value never lowers the requirement. Tiers ascend from 0 and are not empty.
 */
export function requestedConfirmations(
  tiers: readonly ConfirmationTier[],
  worth: InvoiceWorth | null,
  baseCount: number,
): RequestedConfirmations {
  const isReached = ({ fromUsd }: ConfirmationTier) => worth === null || reaches(worth, fromUsd)
  const upTo = tiers.filter((tier, index) => index === 0 || isReached(tier))
  const counts = upTo.map(({ confirmations }) => (confirmations === 'finalized' ? baseCount : confirmations))
  const last = upTo.at(-1)
  if (last === undefined) throw new RangeError('a table of confirmations has at least one tier')
  if (last.confirmations !== 'finalized') return { confirmations: last.confirmations, finality: false }
  return { confirmations: counts.toSorted((left, right) => right - left)[0] ?? baseCount, finality: true }
}

function reaches({ fiat, fiatPerUsd }: InvoiceWorth, fromUsd: number): boolean {
  if (fiat.currency !== 'USD' && fiatPerUsd === null) return true
  const perUsd = parseDecimal(fiat.currency === 'USD' ? '1' : (fiatPerUsd ?? '1'))
  const worth = { digits: fiat.minor, scale: FIAT_EXPONENT[fiat.currency] }
  return compare(worth, multiply(perUsd, { digits: BigInt(fromUsd), scale: 0 })) >= 0
}
