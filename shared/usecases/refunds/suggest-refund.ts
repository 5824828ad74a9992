import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { isSettled, totals } from '#shared/domain/invoice/totals.ts'
import type { Refund } from '#shared/ports/refunds.ts'

/**
 * The likely refund, in base units of the chosen coin: for an overpaid invoice the amount above the amount due, for a paid one with money that
 * came too late to count that money, for any other everything received; minus refunds in that coin that were not withdrawn. Never below zero; zero without
 * a coin.
 */
export function suggestRefund(
  state: InvoiceState,
  refunds: readonly Pick<Refund, 'asset' | 'amountBase' | 'status'>[],
): bigint {
  const lock = activePaymentMethod(state)
  if (lock === null) return 0n
  const { receivedBase, seenBase, dueBase } = totals(state)
  const lateBase = receivedBase - seenBase
  const whole =
    state.status === 'overpaid' ? receivedBase - dueBase : isSettled(state) && lateBase > 0n ? lateBase : receivedBase
  const covered = refunds
    .filter(({ asset, status }) => asset === lock.asset && status !== 'withdrawn')
    .reduce((sum, { amountBase }) => sum + amountBase, 0n)
  const open = whole - covered
  return open > 0n ? open : 0n
}
