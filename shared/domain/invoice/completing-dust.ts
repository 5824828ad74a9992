import type { PaymentObservation } from './invoice-event.ts'
import type { LedgerRow, PaymentMethod } from './model.ts'
import { baseOf, toleranceAt, unpaidShare, type ValuedMoney } from './price-coverage.ts'
import { quoteAt } from './quote-window.ts'
import { byFirstSeen, isLive } from './totals.ts'

/** Input of `completingDust`. */
interface Walk {
  readonly lock: PaymentMethod
  /** The checked ledger, in which only dust counted by an operator counts. */
  readonly ledger: readonly LedgerRow[]
  /** Payments without rows that enter the sums. */
  readonly unlisted: readonly PaymentObservation[]
  /** Live dust, on time, of the active payment method, that a quote covers. */
  readonly dust: readonly PaymentObservation[]
}

/**
 * Transfer key of the single dust transfer that counts because it alone closes the gap between the counted money first seen before
 * it and the settling amount, at the quote it came under; null when there is none. The first money of an invoice is never dust. Depends
 * only on the set of payments, never on the order in which they were found.
 */
export function completingDust({ lock, ledger, unlisted, dust }: Walk): string | null {
  if (dust.length === 0) return null
  const money = [...ledger.filter((row) => row.counted && row.eligible && isLive(row)), ...unlisted]
  const isDustKey = new Set(dust.map(({ payment }) => payment))
  const before: ValuedMoney[] = []
  let unpaid = unpaidShare(lock, before)
  for (const one of [...money, ...dust].sort(byFirstSeen)) {
    const quote = quoteAt(lock, one.firstSeenAt)
    if (!isDustKey.has(one.payment)) {
      before.push({ quote, amountBase: amountOf(one) })
      unpaid = unpaidShare(lock, before)
      continue
    }
    const missingBase = baseOf(quote, unpaid) - toleranceAt(lock, quote)
    if (before.length > 0 && missingBase > 0n && one.amountBase >= missingBase) return one.payment
  }
  return null
}

function amountOf(one: LedgerRow | PaymentObservation): bigint {
  return 'acceptedBase' in one ? (one.acceptedBase ?? one.amountBase) : one.amountBase
}
