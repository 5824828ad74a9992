import type { AssetLock, LedgerRow, PaymentObservation, UncountedReason } from './model.ts'

/**
 * Index of the lock a payment answers: same asset, network and address, held when the payment was first seen. A payment
 * seen after the payer turned to another asset still belongs to the old lock, whose address stays watched. Null when none fits.
 */
export function holdingLock(
  locks: readonly AssetLock[],
  seen: Pick<PaymentObservation, 'asset' | 'network' | 'matchKey' | 'firstSeenAt'>,
): number | null {
  const fits = (lock: AssetLock) =>
    lock.asset === seen.asset && lock.network === seen.network && lock.matchKey === seen.matchKey
  const from = (lock: AssetLock) => lock.from <= seen.firstSeenAt
  const until = (lock: AssetLock) => lock.to === null || seen.firstSeenAt < lock.to
  const held = locks.findLastIndex((lock) => fits(lock) && from(lock) && until(lock))
  if (held >= 0) return held
  const earlier = locks.findLastIndex((lock) => fits(lock) && from(lock))
  if (earlier >= 0) return earlier
  // Block times lag behind our clock: a transfer may carry a time shortly before its lock.
  const first = locks.findIndex(fits)
  return first >= 0 ? first : null
}

/** Why money that answers none of the locks, or not the one that received funds first, is kept out of the sums. */
export function foreignReason(
  locks: readonly AssetLock[],
  seen: PaymentObservation,
  hold: number | null,
): UncountedReason {
  if (hold !== null) return 'inactive_lock'
  const sameAddress = locks.filter((lock) => lock.matchKey === seen.matchKey)
  if (sameAddress.length === 0) return 'unmatched'
  return sameAddress.some((lock) => lock.network === seen.network) ? 'wrong_asset' : 'wrong_network'
}

/** Too small to matter: below the chain's dust or 0.1 % of what the lock first asked for. Simulated money never is. */
export function isDust(lock: AssetLock, seen: Pick<LedgerRow, 'amountBase' | 'simulated'>): boolean {
  return !seen.simulated && seen.amountBase < dustBound(lock)
}

/** The smallest amount that is not dust, base units: the chain's bound or 0.1 % of what the lock first asked for, rounded up. */
export function dustBound(lock: AssetLock): bigint {
  const thousandth = ((lock.quotes[0]?.amountBase ?? 0n) + 999n) / 1_000n
  return thousandth > lock.policy.dustBase ? thousandth : lock.policy.dustBase
}

/**
 * Dust that this lock leaves out of every sum. Depends on frozen figures alone, so it is true of a transfer for ever.
 * Whether such a transfer completes its invoice is for `completingDust` to say.
 */
export function isLeftOut(lock: AssetLock, seen: Pick<LedgerRow, 'amountBase' | 'simulated'>): boolean {
  return lock.countsDust === false && isDust(lock, seen)
}
