import type { FiatCode } from './enumerations.ts'
import { compare, multiply, parseDecimal } from './money/decimal.ts'
import { FIAT_EXPONENT } from './money/fiat.ts'

/** Confirmations that payments ask for on invoices worth at least `fromUsd`; the next tier ends it. */
export interface ConfirmationTier {
  /** Whole US dollars. */
  readonly fromUsd: number
  /** `finalized` waits for the chain's own finality besides a count of blocks. */
  readonly confirmations: number | 'finalized'
}

/** What an invoice is worth. */
export interface InvoiceWorth {
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
  /** Units of that currency per US dollar, of the rate that prices the lock; null when there is none. */
  readonly fiatPerUsd: string | null
}

/** What one tier asks of a payment. */
export interface AskedConfirmations {
  readonly confirmations: number
  /** Its block must be final as the chain itself says, besides the count. */
  readonly finality: boolean
}

/**
 * What a table asks for on an invoice: the last tier whose threshold the invoice reaches, exact to the minor unit. Without a
 * worth in US dollars it is the strictest tier. Under `finalized` stands the highest count of the tiers below it, at least
 * `baseCount`, so that a higher value never lowers what is asked for. Tiers ascend from 0 and are not empty.
 */
export function askedConfirmations(
  tiers: readonly ConfirmationTier[],
  worth: InvoiceWorth | null,
  baseCount: number,
): AskedConfirmations {
  const reached = worth === null ? tiers.length - 1 : tiers.findLastIndex((tier) => reaches(worth, tier.fromUsd))
  const upTo = tiers.slice(0, Math.max(reached, 0) + 1)
  const counts = upTo.flatMap(({ confirmations }) => (confirmations === 'finalized' ? [baseCount] : [confirmations]))
  const last = upTo.at(-1)
  if (last === undefined) throw new RangeError('a table of confirmations has at least one tier')
  if (last.confirmations === 'finalized') return { confirmations: Math.max(...counts), finality: true }
  return { confirmations: last.confirmations, finality: false }
}

function reaches({ fiat, fiatPerUsd }: InvoiceWorth, fromUsd: number): boolean {
  if (fiat.currency !== 'USD' && fiatPerUsd === null) return true
  const perUsd = parseDecimal(fiat.currency === 'USD' ? '1' : (fiatPerUsd ?? '1'))
  const worth = { digits: fiat.minor, scale: FIAT_EXPONENT[fiat.currency] }
  return compare(worth, multiply(perUsd, { digits: BigInt(fromUsd), scale: 0 })) >= 0
}

/** Most tiers of a table. */
const TIERS_MAX = 10
/** Highest threshold, US dollars. */
const FROM_MAX = 1_000_000_000
/** As for a network in the settings of an installation: more than a week of blocks on Bitcoin means a typing error. */
export const CONFIRMATIONS_MAX = 10_000

/** Why these tiers cannot be asked for; null when they can. `value` may be anything. */
export function tiersFault(value: unknown, knowsFinality: boolean): string | null {
  if (!Array.isArray(value) || value.length === 0) return 'Give at least one tier.'
  if (value.length > TIERS_MAX) return `Give at most ${TIERS_MAX} tiers.`
  const faults = value.map((tier, index) => tierFault(tier, value[index - 1], index, knowsFinality))
  return faults.find((fault) => fault !== null) ?? null
}

type Unchecked = Partial<Record<keyof ConfirmationTier, unknown>> | null | undefined

function tierFault(tier: Unchecked, before: Unchecked, index: number, knowsFinality: boolean): string | null {
  const { fromUsd, confirmations } = tier ?? {}
  if (!isWhole(fromUsd, 0, FROM_MAX)) return `A threshold is a whole number of US dollars from 0 to ${FROM_MAX}.`
  if (index === 0 && fromUsd !== 0) return 'The first tier must begin at 0 USD.'
  if (index > 0 && fromUsd <= Number(before?.fromUsd)) return 'Thresholds must ascend.'
  if (before?.confirmations === 'finalized') return 'Nothing can follow "finalized": no tier asks for more.'
  if (confirmations === 'finalized') return knowsFinality ? null : 'Blocks of this network are never final.'
  if (!isWhole(confirmations, 1, CONFIRMATIONS_MAX)) {
    return `Confirmations are a whole number from 1 to ${CONFIRMATIONS_MAX}, or "finalized".`
  }
  if (index > 0 && confirmations < Number(before?.confirmations)) return 'A higher value must not ask for less.'
  return null
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}
