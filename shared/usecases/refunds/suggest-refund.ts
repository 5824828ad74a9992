import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { activeLock } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import type { Refund } from '#shared/ports/refunds.ts'

/**
 * What is most likely given back, in base units of the chosen coin: of an overpaid invoice what came above the amount due, of any
 * other everything that came; less what refunds in that coin cover already, unless they were withdrawn. Never below zero; zero without
 * a coin.
 */
export function suggestRefund(
  state: InvoiceState,
  refunds: readonly Pick<Refund, 'asset' | 'amountBase' | 'status'>[],
): bigint {
  const lock = activeLock(state)
  if (lock === null) return 0n
  const { receivedBase, dueBase } = totals(state)
  const covered = refunds
    .filter(({ asset, status }) => asset === lock.asset && status !== 'withdrawn')
    .reduce((sum, { amountBase }) => sum + amountBase, 0n)
  const open = (state.status === 'overpaid' ? receivedBase - dueBase : receivedBase) - covered
  return open > 0n ? open : 0n
}
