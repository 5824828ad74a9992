import type { InvoiceState, Ms } from '#shared/domain/invoice/model.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { duration } from './exception-sentence.ts'

/** Confirmations of the slowest pending payment. */
export interface Progress {
  readonly have: number
  readonly need: number
}

/** Next step of an invoice, in a few words for the end of a list row. Pure. */
export function invoiceWhatNow(state: InvoiceState, now: Ms, progress: Progress | null): string {
  const lock = activePaymentMethod(state)
  const { dueBase, seenBase, receivedBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, lock?.decimals ?? 0)} ${lock?.symbol ?? ''}`.trim()
  const left = state.expiresAt - now
  const decide = state.exceptions.length > 0
  switch (state.status) {
    case 'new':
      return `no coin chosen yet${left > 0 ? `, ${duration(left)} left` : ''}`
    case 'pending':
      if (receivedBase > 0n) return 'received a payment that does not count, needs a decision'
      return left > 0 ? `expires in ${duration(left)}` : 'expired, waiting for the last blocks'
    case 'partial':
      return `${units(dueBase - seenBase)} left to pay${left > 0 ? `, ${duration(left)} left` : ''}`
    case 'confirming':
      return progress === null ? 'waiting for confirmations' : `${progress.have} of ${progress.need} confirmations`
    case 'paid':
      if (decide) return 'paid, has an open exception'
      return paidIn((state.paidAt ?? state.updatedAt) - state.createdAt)
    case 'overpaid':
      return `overpaid by ${units(seenBase - dueBase)}`
    case 'expired':
      if (lock === null) return 'no coin chosen'
      if (receivedBase > 0n)
        return `${formatUnits(receivedBase, lock.decimals)} of ${units(dueBase)} received, needs a decision`
      return decide ? 'received a payment that does not count, needs a decision' : 'nothing received'
    case 'cancelled':
      return decide ? 'received a payment after it was cancelled, needs a decision' : 'cancelled'
  }
}

function paidIn(ms: number): string {
  return ms < 1_000 ? 'paid instantly' : `paid in ${duration(ms)}`
}
