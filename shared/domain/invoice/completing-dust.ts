import type { PaymentObservation } from './invoice-event.ts'
import type { InvoiceState, LedgerRow } from './model.ts'
import { byFirstSeen, isLive, neededBase, totals } from './totals.ts'

/** Input of `completingDust`. */
interface Walk {
  /** The invoice with its ledger checked, in which only dust counted by an operator counts. */
  readonly state: InvoiceState
  /** Payments without rows that enter the sums. */
  readonly unlisted: readonly PaymentObservation[]
  /** Live dust, on time, of the active payment method, that a quote covers. */
  readonly dust: readonly PaymentObservation[]
}

/**
 * Transfer key of the single dust transfer that counts because it alone closes the gap between the counted money first seen before
 * it and the settling amount; null when there is none. The first money of an invoice is never dust. Depends only on the set
 * of payments, never on the order in which they were found.
 */
export function completingDust({ state, unlisted, dust }: Walk): string | null {
  if (dust.length === 0) return null
  const needed = neededBase(state, totals(state).dueBase)
  const money = [...state.ledger.filter((row) => row.counted && row.eligible && isLive(row)), ...unlisted]
  const isDustKey = new Set(dust.map(({ payment }) => payment))
  let sum = 0n
  for (const one of [...money, ...dust].sort(byFirstSeen)) {
    if (!isDustKey.has(one.payment)) sum += amountOf(one)
    else if (sum > 0n && sum < needed && sum + one.amountBase >= needed) return one.payment
  }
  return null
}

function amountOf(one: LedgerRow | PaymentObservation): bigint {
  return 'acceptedBase' in one ? (one.acceptedBase ?? one.amountBase) : one.amountBase
}
