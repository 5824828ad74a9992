import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'

/** What the page shows: one question, one answer. */
export const STEPS = [
  'pick',
  'pay',
  'lapsed',
  'checking',
  'partial',
  'confirming',
  'paid',
  'expired',
  'short',
  'late',
  'cancelled',
] as const
export type Step = (typeof STEPS)[number]

/** True for the text of nothing, in whatever precision. */
export function isZero(amount: string): boolean {
  return /^0(\.0+)?$/.test(amount)
}

/**
 * The step of an invoice at a moment of the store's clock. A price that is over hides amount and address at once. While the server
 * has not ended an invoice whose time is over, it is still reading blocks of that time: nobody knows yet what arrived.
 */
export function stepOf(view: InvoiceView, now: number): Step {
  const { status, lock, expiresAt } = view
  if (status === 'paid' || status === 'overpaid') return 'paid'
  if (status === 'confirming' || status === 'cancelled') return status
  const isOver = now >= expiresAt
  if (status === 'new' || lock === null) return isOver ? 'expired' : 'pick'
  if (isOver && (status === 'pending' || status === 'partial')) return 'checking'
  if (status === 'pending') return now >= lock.quoteEndsAt ? 'lapsed' : 'pay'
  if (status === 'partial') return 'partial'
  if (isZero(view.received)) return 'expired'
  return view.payments.some((payment) => payment.isLate && payment.uncounted === null) ? 'late' : 'short'
}

/** How much longer the price holds; the timer is shown in the last third alone. */
export function timeLeft(view: InvoiceView, now: number): { readonly ms: number; readonly isShown: boolean } | null {
  const { lock, expiresAt, status } = view
  if (lock === null || (status !== 'pending' && status !== 'partial')) return null
  const end = status === 'partial' ? expiresAt : Math.min(lock.quoteEndsAt, expiresAt)
  const ms = end - now
  return { ms, isShown: ms > 0 && ms <= (end - lock.lockedAt) / 3 }
}

/** A payment that was seen and is gone. */
export function isGone({ state }: InvoiceView['payments'][number]): boolean {
  return state === 'replaced' || state === 'dropped' || state === 'orphaned'
}

/** The progress of the payment that has furthest to go; null when none is on its way. */
export function slowest(view: InvoiceView): { readonly have: number; readonly need: number } | null {
  const counted = view.payments.filter((payment) => !isGone(payment) && payment.uncounted === null)
  const waiting = counted.filter(({ state }) => state === 'detected')
  const rows = waiting.map(({ confirmations, requiredConfirmations }) => ({
    have: confirmations,
    need: requiredConfirmations,
  }))
  return rows.sort((left, right) => right.need - right.have - (left.need - left.have))[0] ?? null
}
