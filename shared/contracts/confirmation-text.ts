import type { ConfirmationTier } from '#shared/domain/payment/confirmation-tiers.ts'

/** The confirmations a workspace requires for one asset: one figure for every value, or a table by value. */
export type GivenConfirmations = number | 'finalized' | readonly ConfirmationTier[]

/** A part of a table: `2`, `finalized`, `100: 2`, `from 10000 USD: finalized`. */
const PART = /^(?:(?:from )?(\d{1,10})(?: usd)? ?: ?)?(\d{1,9}|finalized)$/

/**
 * Parses an entered text: `6`, `finalized`, or tiers such as `1, 100: 2, 10000: finalized`, where each threshold is in whole US
 * dollars and the first tier may omit its 0. Null when it cannot be parsed; `checkedConfirmations` checks the
 * figures.
 */
export function parseConfirmations(text: string): GivenConfirmations | null {
  const parts = text.toLowerCase().replace(/\s+/g, ' ').split(',')
  const tiers = parts.map((part) => tierOf(part.trim()))
  const [first] = tiers
  if (first === undefined || tiers.some((tier) => tier === null)) return null
  if (first?.fromUsd === null && tiers.length === 1) return first.confirmations
  // A tier after the first needs its threshold.
  if (tiers.slice(1).some((tier) => tier?.fromUsd === null)) return null
  return tiers.flatMap((tier) => (tier === null ? [] : [{ ...tier, fromUsd: tier.fromUsd ?? 0 }]))
}

function tierOf(part: string): { fromUsd: number | null; confirmations: number | 'finalized' } | null {
  const [whole, from, count = ''] = PART.exec(part) ?? []
  if (whole === undefined) return null
  const confirmations = count === 'finalized' ? count : Number(count)
  return { fromUsd: from === undefined ? null : Number(from), confirmations }
}

/** Prints a figure or table so that `parseConfirmations` parses it back. */
export function confirmationsText(given: GivenConfirmations): string {
  if (typeof given === 'number' || typeof given === 'string') return String(given)
  if (given.length === 1) return given.map(({ fromUsd, confirmations }) => `${fromUsd}: ${confirmations}`).join('')
  return given
    .map(({ fromUsd, confirmations }) => (fromUsd === 0 ? `${confirmations}` : `${fromUsd}: ${confirmations}`))
    .join(', ')
}
