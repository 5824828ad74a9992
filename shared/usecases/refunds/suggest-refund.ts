import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import type { Refund } from '#shared/ports/refunds.ts'

/**
 * The likely refund, in base units of the chosen coin: for an overpaid invoice the amount above the amount due, for any
 * other everything received; minus refunds in that coin that were not withdrawn. Never below zero; zero without
 * a coin.
 */
export function suggestRefund(
  state: InvoiceState,
  refunds: readonly Pick<Refund, 'asset' | 'amountBase' | 'status'>[],
): bigint {
  const lock = activePaymentMethod(state)
  if (lock === null) return 0n
  const { receivedBase, dueBase } = totals(state)
  const covered = refunds
    .filter(({ asset, status }) => asset === lock.asset && status !== 'withdrawn')
    .reduce((sum, { amountBase }) => sum + amountBase, 0n)
  const open = (state.status === 'overpaid' ? receivedBase - dueBase : receivedBase) - covered
  return open > 0n ? open : 0n
}
