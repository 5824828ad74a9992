import { isLate } from './classify-payment.ts'
import type { PaymentObservation } from './invoice-event.ts'
import type { InvoiceState, OthersRow, PaymentMethod } from './model.ts'
import { isDust } from './quote-match.ts'
import { quoteHolding } from './quote-window.ts'
import { isLive } from './totals.ts'

const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n
const FNV_MASK = 0xffffffffffffffffn

/** A payment without a row, with its payment method or null. */
export interface Unlisted {
  readonly seen: PaymentObservation
  readonly lock: PaymentMethod | null
}

/**
 * Sums payments without a separate row; null when there are none. Only money on time of the active payment method enters
 * the sums, first seen within one of its quotes: the row cannot store a check of lateness or price, so the rest is left to the operators.
 */
export function sumOthers(
  state: InvoiceState,
  unlisted: readonly Unlisted[],
  active: PaymentMethod | null,
): OthersRow | null {
  if (unlisted.length === 0) return null
  const live = unlisted.filter((one) => countsUnlisted(state, one, active)).map(({ seen }) => seen)
  return {
    count: unlisted.length,
    seenBase: sum(live),
    confirmedBase: sum(live.filter((seen) => seen.state === 'confirmed')),
    digest: digestOf(unlisted.map(({ seen }) => seen)),
  }
}

/** True for a payment that enters the sums without a separate row. */
export function countsUnlisted(
  state: Pick<InvoiceState, 'expiresAt' | 'status'>,
  { seen, lock }: Unlisted,
  active: PaymentMethod | null,
): boolean {
  if (lock === null || lock !== active || isDust(lock, seen)) return false
  return isLive(seen) && !isLate(state, lock, seen) && quoteHolding(lock, seen.firstSeenAt) !== null
}

/** `<sum of versions>-<64-bit FNV-1a over key, version and state of each payment in key order>`. */
export function digestOf(seen: readonly PaymentObservation[]): string {
  const text = seen
    .map((one) => `${one.payment}|${one.version}|${one.state}`)
    .sort()
    .join('\n')
  let hash = FNV_OFFSET
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * FNV_PRIME) & FNV_MASK
  return `${versionSum(seen)}-${hash.toString(16).padStart(16, '0')}`
}

/** Increases with every newer version and never decreases, so that an old read can be distinguished from a new one. */
export function versionSum(rows: readonly { readonly version: number }[]): number {
  return rows.reduce((total, row) => total + row.version, 0)
}

function sum(seen: readonly PaymentObservation[]): bigint {
  return seen.reduce((total, one) => total + one.amountBase, 0n)
}
