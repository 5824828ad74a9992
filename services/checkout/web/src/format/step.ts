import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'

/** The step that the page shows. `removed`: the server has no such invoice any more, which the last view cannot say. */
export type Step =
  | 'pick'
  | 'pay'
  | 'lapsed'
  | 'checking'
  | 'partial'
  | 'confirming'
  | 'paid'
  | 'expired'
  | 'short'
  | 'late'
  | 'cancelled'
  | 'removed'

/** True for a zero amount, in any precision. */
export function isZero(amount: string): boolean {
  return /^0(\.0+)?$/.test(amount)
}

/**
 * The step of an invoice at a moment of the store's clock. An expired quote hides amount and address at once, also for the rest of a price. While the server
 * has not ended an invoice whose time is over, it is still reading blocks of that time: a payment may still be found.
 */
export function stepOf(view: InvoiceView, now: number): Step {
  const { status, paymentMethod, expiresAt } = view
  if (status === 'paid' || status === 'overpaid') return 'paid'
  if (status === 'confirming' || status === 'cancelled') return status
  const isOver = now >= expiresAt
  if (status === 'new' || paymentMethod === null) return isOver ? 'expired' : 'pick'
  if (isOver && (status === 'pending' || status === 'partial')) return 'checking'
  const isOpen = status === 'pending' || status === 'partial'
  if (isOpen && now >= paymentMethod.quoteEndsAt) return 'lapsed'
  if (isOpen) return status === 'pending' ? 'pay' : 'partial'
  if (isZero(view.received)) return 'expired'
  return view.payments.some((payment) => payment.isLate && payment.uncounted === null) ? 'late' : 'short'
}

/** How much longer the quote is valid; the timer is shown only in the last third. */
export function timeLeft(view: InvoiceView, now: number): { readonly ms: number; readonly isShown: boolean } | null {
  const { paymentMethod, expiresAt, status } = view
  if (paymentMethod === null || (status !== 'pending' && status !== 'partial')) return null
  const end = Math.min(paymentMethod.quoteEndsAt, expiresAt)
  const ms = end - now
  return { ms, isShown: ms > 0 && ms <= (end - paymentMethod.quotedAt) / 3 }
}

/** A payment that was seen and has disappeared. */
export function isGone({ state }: InvoiceView['payments'][number]): boolean {
  return state === 'replaced' || state === 'dropped' || state === 'orphaned'
}

/** The merchant recorded that money was sent back: they have decided. */
export const isRefunded = ({ books }: InvoiceView): boolean => books.refunds.length > 0

/** The progress of the payment with the most left to wait; null when none is pending. */
export function slowest(view: InvoiceView): { readonly have: number; readonly need: number } | null {
  const counted = view.payments.filter((payment) => !isGone(payment) && payment.uncounted === null)
  const waiting = counted.filter(({ state }) => state === 'detected')
  const rows = waiting.map(({ confirmations, requiredConfirmations }) => ({
    have: confirmations,
    need: requiredConfirmations,
  }))
  return rows.sort((left, right) => right.need - right.have - (left.need - left.have))[0] ?? null
}
