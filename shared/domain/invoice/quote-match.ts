import type { PaymentObservation } from './invoice-event.ts'
import type { LedgerRow, PaymentMethod, UncountedReason } from './model.ts'

/**
 * Index of the payment method of a payment: same asset, network and address, held when the payment was first seen. A payment
 * seen after the payer switched to another asset still belongs to the old one, whose address stays watched. Null when none fits.
 */
export function holdingLock(
  locks: readonly PaymentMethod[],
  seen: Pick<PaymentObservation, 'asset' | 'network' | 'matchKey' | 'firstSeenAt'>,
): number | null {
  const fits = (lock: PaymentMethod) =>
    lock.asset === seen.asset && lock.network === seen.network && lock.matchKey === seen.matchKey
  const from = (lock: PaymentMethod) => lock.from <= seen.firstSeenAt
  const until = (lock: PaymentMethod) => lock.to === null || seen.firstSeenAt < lock.to
  const held = locks.findLastIndex((lock) => fits(lock) && from(lock) && until(lock))
  if (held >= 0) return held
  const earlier = locks.findLastIndex((lock) => fits(lock) && from(lock))
  if (earlier >= 0) return earlier
  // Block times lag behind our clock: a transfer may carry a time shortly before its quote.
  const first = locks.findIndex(fits)
  return first >= 0 ? first : null
}

/** Why money that matches none of the payment methods, or not the one that received funds first, is kept out of the sums. */
export function foreignReason(
  locks: readonly PaymentMethod[],
  seen: PaymentObservation,
  hold: number | null,
): UncountedReason {
  if (hold !== null) return 'inactive_lock'
  const sameAddress = locks.filter((lock) => lock.matchKey === seen.matchKey)
  if (sameAddress.length === 0) return 'unmatched'
  return sameAddress.some((lock) => lock.network === seen.network) ? 'wrong_asset' : 'wrong_network'
}

/**
 * Too small to matter: below the chain's dust or 0.1 % of the first amount due. Simulated money never is. Dust is left out of every sum, unless it
 * completes its invoice (`completingDust`) or an operator counts it. Depends only on frozen figures, so the result never changes for a transfer.
 */
export function isDust(lock: PaymentMethod, seen: Pick<LedgerRow, 'amountBase' | 'simulated'>): boolean {
  return !seen.simulated && seen.amountBase < dustBound(lock)
}

/** The smallest amount that is not dust, base units: the chain's bound or 0.1 % of the first amount due, rounded up. */
export function dustBound(lock: PaymentMethod): bigint {
  const thousandth = ((lock.quotes[0]?.amountBase ?? 0n) + 999n) / 1_000n
  return thousandth > lock.policy.dustBase ? thousandth : lock.policy.dustBase
}
