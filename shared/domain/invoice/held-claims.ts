import { type InvoiceState, isHeld, type Ms, type PaymentMethod } from './model.ts'
import { latestQuote } from './quote-window.ts'

/** Money for an invoice may be seen in time and mined up to a day after its end. */
const PAYABLE_AFTER_END_MS = 24 * 3_600_000

/** A temporary claim, and the payment methods that share it. */
export interface HeldClaim {
  readonly claim: string
  readonly locks: readonly PaymentMethod[]
  /** Earliest end of the claim, by the block time of every chain concerned. */
  readonly dueAt: Ms
}

/** How long a claim is valid after its last quote when late money may settle its invoice for `lateGraceMs`: at least a day. */
export function heldFor(lateGraceMs: number): number {
  return later(PAYABLE_AFTER_END_MS, lateGraceMs)
}

/** The valid temporary claims of an invoice, with their earliest end. Payment methods on one address share one claim. */
export function heldClaims(state: Pick<InvoiceState, 'locks' | 'expiresAt'>): readonly HeldClaim[] {
  const byClaim = new Map<string, PaymentMethod[]>()
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

/** The active payment method can be paid until the invoice ends, an earlier one until its quote ends. */
function dueAt(expiresAt: Ms, lock: PaymentMethod): Ms {
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
