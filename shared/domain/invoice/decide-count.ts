import { auditWrite } from './audit-effect.ts'
import type { Decision } from './decision.ts'
import { fold } from './fold.ts'
import type { InvoiceEvent, TransitionInput } from './invoice-event.ts'
import { activePaymentMethod, type InvoiceState, type LedgerRow } from './model.ts'
import { holdingLock } from './quote-match.ts'
import { settle } from './settle.ts'
import { isLive } from './totals.ts'

type Count = Extract<InvoiceEvent, { type: 'payment_counted' }>

/**
 * Counts one confirmed dust transfer in the active asset by an operator's decision: it enters the sums with its own amount, is
 * announced like any payment, and the status follows from the sums. Dust that already counts is unchanged. Refused on `new` and
 * `cancelled`, for other money, and for dust that is not confirmed.
 */
export function decideCount(
  state: InvoiceState,
  event: Count,
  { observations, at, knownUntil }: Pick<TransitionInput, 'observations' | 'at'> & { readonly knownUntil: number },
): Decision {
  const row = state.ledger.find((known) => known.payment === event.payment)
  if (row?.counted === true && row.countedByHand === true) return null
  const seen = observations.find((one) => one.payment === event.payment)
  if (row === undefined || seen === undefined || !isCountable(state, row)) return { refused: 'not_countable' }
  const lock = state.locks[holdingLock(state.locks, seen) ?? -1]
  if (lock !== activePaymentMethod(state)) return { refused: 'not_countable' }
  if (row.state !== 'confirmed') return { refused: 'unconfirmed_funds' }
  const counted: LedgerRow = {
    ...row,
    counted: true,
    uncountedReason: null,
    eligible: true,
    countedByHand: true,
    // The operator decided about its lateness as well.
    lateAnnounced: true,
  }
  const ledger = state.ledger.map((known) => (known === row ? counted : known))
  const draft = settle(fold({ ...state, ledger }, observations, at), at, knownUntil)
  return { ...draft, effects: [...draft.effects, ...auditWrite('payment_counted', event, event.payment)] }
}

function isCountable(state: InvoiceState, row: LedgerRow): boolean {
  if (state.status === 'new' || state.status === 'cancelled') return false
  return isLive(row) && row.uncountedReason === 'dust'
}
