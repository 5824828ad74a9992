import type { ConfirmationTier } from '#shared/domain/payment/confirmation-tiers.ts'

/** Most tiers of a table. */
const TIERS_MAX = 10
/** Highest threshold, US dollars. */
const FROM_MAX = 1_000_000_000
/** As for a network in the settings of an installation: more than a week of Bitcoin blocks is a typing error. */
export const CONFIRMATIONS_MAX = 10_000

/** Why these tiers are invalid; null when they are valid. `value` may be anything. */
export function tiersFault(value: unknown, knowsFinality: boolean): string | null {
  if (!Array.isArray(value) || value.length === 0) return 'Enter at least one tier.'
  if (value.length > TIERS_MAX) return `Enter at most ${TIERS_MAX} tiers.`
  const faults = value.map((tier, index) => tierFault(tier, value[index - 1], index, knowsFinality))
  return faults.find((fault) => fault !== null) ?? null
}

type UncheckedTier = Partial<Record<keyof ConfirmationTier, unknown>> | null | undefined

function tierFault(tier: UncheckedTier, before: UncheckedTier, index: number, knowsFinality: boolean): string | null {
  const { fromUsd, confirmations } = tier ?? {}
  if (!isWhole(fromUsd, 0, FROM_MAX)) return `A threshold must be a whole number of US dollars from 0 to ${FROM_MAX}.`
  if (index === 0 && fromUsd !== 0) return 'The first tier must begin at 0 USD.'
  if (index > 0 && fromUsd <= Number(before?.fromUsd)) return 'Thresholds must increase.'
  if (before?.confirmations === 'finalized') return '"finalized" must be the last tier.'
  if (confirmations === 'finalized') return knowsFinality ? null : 'This network has no final blocks.'
  if (!isWhole(confirmations, 1, CONFIRMATIONS_MAX)) {
    return `Confirmations must be a whole number from 1 to ${CONFIRMATIONS_MAX}, or "finalized".`
  }
  if (index > 0 && confirmations < Number(before?.confirmations))
    return 'A higher tier must not require fewer confirmations.'
  return null
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}
