import type { InvoiceState, Ms } from './model.ts'

/** An invoice that waits this long for confirmations needs attention. */
const STUCK_AFTER_MS = 24 * 3_600_000

/** When an invoice must be checked next: its deadline, or the moment its confirmations take too long; null when it need not. */
export function nextActionAt(
  state: Pick<InvoiceState, 'status' | 'expiresAt' | 'confirmingSince' | 'exceptions'>,
): Ms | null {
  if (state.status === 'new' || state.status === 'pending' || state.status === 'partial') return state.expiresAt
  if (state.status !== 'confirming' || state.confirmingSince === null) return null
  const known = state.exceptions.some((open) => open.exception === 'stuck')
  return known ? null : state.confirmingSince + STUCK_AFTER_MS
}
