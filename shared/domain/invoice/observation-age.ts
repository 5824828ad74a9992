import type { PaymentObservation } from './invoice-event.ts'
import type { InvoiceState } from './model.ts'
import { digestOf, versionSum } from './others-row.ts'

/**
 * Compares a set of observations with the ledger. `stale`: a payment is missing or older than
 * in the ledger, so the set was read before another writer's and must be read again. `news`: a payment is newer. `same`: none is.
 */
export function observationAge(
  state: Pick<InvoiceState, 'ledger' | 'others'>,
  observations: readonly PaymentObservation[],
): 'stale' | 'same' | 'news' {
  const seen = new Map(observations.map((one) => [one.payment, one]))
  const { ledger, others } = state
  if (ledger.some((row) => (seen.get(row.payment)?.version ?? -1) < row.version)) return 'stale'
  const knownVersions = versionSum(ledger) + (others === null ? 0 : parseInt(others.digest, 10))
  // Totals and not only the others: a payment may have moved from `others` into a separate row.
  if (seen.size < ledger.length + (others?.count ?? 0) || versionSum(observations) < knownVersions) return 'stale'
  const listed = new Set(ledger.map((row) => row.payment))
  const rest = observations.filter((one) => !listed.has(one.payment))
  const restIsSame = rest.length === 0 ? others === null : others?.digest === digestOf(rest)
  return restIsSame && ledger.every((row) => seen.get(row.payment)?.version === row.version) ? 'same' : 'news'
}
