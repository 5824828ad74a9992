import type { InvoiceState, LedgerRow, PaymentObservation } from './model.ts'
import { byFirstSight, isLive, neededBase, totals } from './totals.ts'

/** What `completingDust` walks over. */
interface Walk {
  /** The invoice with its ledger judged, in which no dust counts but what an operator counted. */
  readonly state: InvoiceState
  /** Payments without rows that enter the sums. */
  readonly unlisted: readonly PaymentObservation[]
  /** Live dust, on time, in the active lock, that a promised price covers. */
  readonly dust: readonly PaymentObservation[]
}

/**
 * Transfer key of the one dust transfer that counts because it alone closes the gap between the counted money first seen before
 * it and what settles the invoice; null when there is none. The first money of an invoice is never dust. Depends on the set
 * of payments alone, never on the order in which they were found.
 */
export function completingDust({ state, unlisted, dust }: Walk): string | null {
  if (dust.length === 0) return null
  const needed = neededBase(state, totals(state).dueBase)
  const money = [...state.ledger.filter((row) => row.counted && row.eligible && isLive(row)), ...unlisted]
  const isDustKey = new Set(dust.map(({ payment }) => payment))
  let sum = 0n
  for (const one of [...money, ...dust].sort(byFirstSight)) {
    if (!isDustKey.has(one.payment)) sum += amountOf(one)
    else if (sum > 0n && sum < needed && sum + one.amountBase >= needed) return one.payment
  }
  return null
}

function amountOf(one: LedgerRow | PaymentObservation): bigint {
  return 'acceptedBase' in one ? (one.acceptedBase ?? one.amountBase) : one.amountBase
}
