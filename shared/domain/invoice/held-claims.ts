import { type InvoiceState, isHeld, type Ms, type PaymentMethod } from './model.ts'
import { latestQuote } from './quote-window.ts'

const DAY_MS = 24 * 3_600_000

/** Money for an invoice may be seen in time and mined up to a day after its end. */
const PAYABLE_AFTER_END_MS = DAY_MS

/** Longest life of an invoice, from its creation to its end: of `expires_in`, and of the setting for invoices without a coin. */
export const INVOICE_LIFE_MAX_MS = 30 * DAY_MS

/** How long a reused address takes exact amounts only, until the workspace states another time. */
export const QUARANTINE_DEFAULT_MS = 7 * DAY_MS
const QUARANTINE_MIN_MS = DAY_MS

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

/** How long an address that is free again takes exact amounts only: at least a day. */
export function quarantineFor(quarantineMs: number): number {
  return later(QUARANTINE_MIN_MS, quarantineMs)
}

/**
 * How long an address must not be offered after the record of what was offered was lost: until the longest invoice that it may belong to has ended, is
 * no longer payable, and its address would take any amount again.
 */
export function restAfterLoss(policy: { readonly lateGraceMs: number; readonly quarantineMs: number }): number {
  return INVOICE_LIFE_MAX_MS + heldFor(policy.lateGraceMs) + quarantineFor(policy.quarantineMs)
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
  const quoteEnd = latestQuote(lock).expiresAt
  return (lock.to === null ? later(expiresAt, quoteEnd) : quoteEnd) + (lock.hold?.heldMs ?? 0)
}

/** The later of two times. */
export function later(left: Ms, right: Ms): Ms {
  if (left > right) return left
  return right
}
