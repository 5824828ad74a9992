import { countsInOthers, digestOf, fold } from './fold.ts'
import type { PaymentObservation } from './invoice-event.ts'
import type { InvoiceState, LedgerRow, Ms } from './model.ts'

/** Digits of an amount in a place: those of the largest amount of a token, 2^256 - 1. */
const AMOUNT_DIGITS = 78

/**
 * Where the last fold of a payment's invoice put the payment, as stored with it: `in` for one with a row or in the sums, otherwise why later folds
 * need not read it, see {@link asideOf}. None until it is applied, and none again when a payment that is aside changes.
 */
export type FoldPlace = string

/** The place of payments that every fold reads. */
export const IN_FOLD: FoldPlace = 'in'

/**
 * What must stay the same for a payment that counts for nothing to count for nothing: the number of payment methods, and which of them is active.
 * Dust can still complete its invoice, and is read again by its amount for that (`smallRest`). Contains no colon, and begins with a digit.
 */
export function foldKey({ paymentMethods }: Pick<InvoiceState, 'paymentMethods'>): string {
  return `${paymentMethods.length}.${paymentMethods.findLastIndex(({ to }) => to === null) + 1}`
}

/** The place of a payment that counts for nothing; places of one `key` sort by amount. */
export function asideOf(key: string, amountBase: bigint): FoldPlace {
  return `${key}:${amountBase.toString().padStart(AMOUNT_DIGITS, '0')}`
}

/** The place of a payment after a fold that resulted in `state`; `key` is the `foldKey` that it was folded under. */
export function placeOf(
  state: InvoiceState,
  seen: PaymentObservation,
  { row, key }: { readonly row: LedgerRow | undefined; readonly key: string },
): FoldPlace {
  return row !== undefined || countsInOthers(state, seen) ? IN_FOLD : asideOf(key, seen.amountBase)
}

/**
 * Compares payments, among which are all with the place {@link IN_FOLD}, with the ledger. `stale`: one in the ledger is missing or older than
 * there, so they were read before another writer's and must be read again. `same`: folding them changes nothing. `news`: it does.
 */
export function observationAge(
  state: InvoiceState,
  observations: readonly PaymentObservation[],
  at: Ms,
): 'stale' | 'same' | 'news' {
  const seen = new Map(observations.map((one) => [one.payment, one]))
  const { ledger, others } = state
  if (ledger.some((row) => (seen.get(row.payment)?.version ?? -1) < row.version)) return 'stale'
  if (ledger.some((row) => seen.get(row.payment)?.version !== row.version)) return 'news'
  const listed = new Set(ledger.map((row) => row.payment))
  const rest = observations.filter((one) => !listed.has(one.payment))
  const counting = rest.filter((one) => countsInOthers(state, one))
  const isSummed = counting.length === 0 ? others === null : others?.digest === digestOf(counting)
  if (!isSummed) return 'news'
  // What counts for nothing is news only when it gets a row.
  return counting.length === rest.length || fold(state, observations, at).ledger.length === ledger.length
    ? 'same'
    : 'news'
}
