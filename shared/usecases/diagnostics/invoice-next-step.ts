import type { InvoiceState, Ms } from '#shared/domain/invoice/model.ts'
import { activeLock } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { duration } from './exception-sentence.ts'

/** Confirmations of the slowest payment that still waits. */
export interface Progress {
  readonly have: number
  readonly need: number
}

/** What an operator may expect of an invoice, in a few words that end a row of a list. Pure. */
export function invoiceWhatNow(state: InvoiceState, now: Ms, progress: Progress | null): string {
  const lock = activeLock(state)
  const { dueBase, seenBase, receivedBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, lock?.decimals ?? 0)} ${lock?.symbol ?? ''}`.trim()
  const left = state.expiresAt - now
  const decide = state.exceptions.length > 0
  switch (state.status) {
    case 'new':
      return `no coin chosen yet${left > 0 ? `, ${duration(left)} left` : ''}`
    case 'pending':
      if (receivedBase > 0n) return 'what arrived does not count: decide'
      return left > 0 ? `expires in ${duration(left)}` : 'over, waits until the chain is read so far'
    case 'partial':
      return `${units(dueBase - seenBase)} due${left > 0 ? `, ${duration(left)} left` : ''}`
    case 'confirming':
      return progress === null ? 'waits for confirmations' : `${progress.have} of ${progress.need} confirmations`
    case 'paid':
      if (decide) return 'paid, but look at its exception'
      return `paid in ${duration((state.paidAt ?? state.updatedAt) - state.createdAt)}`
    case 'overpaid':
      return `${units(seenBase - dueBase)} more than due`
    case 'expired':
      if (lock === null) return 'no coin chosen'
      if (receivedBase > 0n) return `${units(receivedBase)} of ${units(dueBase)} arrived: decide`
      return decide ? 'money came that does not count: decide' : 'nothing arrived'
    case 'cancelled':
      return decide ? 'money came after it was cancelled: decide' : 'cancelled'
  }
}
