import { type AssetLock, type InvoiceState, isHeld, type Ms } from './model.ts'
import { latestQuote } from './quote-window.ts'

/** Money for an invoice may be seen in time and mined up to a day after its end. */
const PAYABLE_AFTER_END_MS = 24 * 3_600_000

/** A claim that ends, and the locks that share it. */
export interface HeldClaim {
  readonly claim: string
  readonly locks: readonly AssetLock[]
  /** From when on the claim may end, by the block time of every chain concerned. */
  readonly dueAt: Ms
}

/** How long a claim stands after its last quote when late money may settle its invoice for `lateGraceMs`: a day at least. */
export function heldFor(lateGraceMs: number): number {
  return later(PAYABLE_AFTER_END_MS, lateGraceMs)
}

/** The claims of an invoice that stand and end one day, with when that may be. Locks on one address share one claim. */
export function heldClaims(state: Pick<InvoiceState, 'locks' | 'expiresAt'>): readonly HeldClaim[] {
  const byClaim = new Map<string, AssetLock[]>()
  for (const lock of state.locks) {
    if (lock.hold === undefined || !isHeld(lock)) continue
    byClaim.set(lock.claim, [...(byClaim.get(lock.claim) ?? []), lock])
  }
  return [...byClaim].map(([claim, locks]) => ({
    claim,
    locks,
    dueAt: locks.map((lock) => dueAt(state.expiresAt, lock)).reduce(later),
  }))
}

/** The active lock can be paid until the invoice ends, an earlier one as long as its quote says. */
function dueAt(expiresAt: Ms, lock: AssetLock): Ms {
  const { hold, to } = lock
  const quoteEnd = latestQuote(lock).expiresAt
  if (hold?.heldMs === undefined) {
    return later(expiresAt, quoteEnd) + PAYABLE_AFTER_END_MS + (hold?.quarantineMs ?? 0)
  }
  return (to === null ? later(expiresAt, quoteEnd) : quoteEnd) + hold.heldMs
}

/** The later of two times. */
export function later(left: Ms, right: Ms): Ms {
  if (left > right) return left
  return right
}
