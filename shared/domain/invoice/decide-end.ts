import { auditWrite } from './audit-effect.ts'
import type { Decision } from './decision.ts'
import type { Attribution } from './invoice-event.ts'
import type { InvoiceState, Ms } from './model.ts'
import { nextActionAt } from './next-action.ts'
import { isSimulatable } from './plan-simulation.ts'
import { type Draft, enter } from './settle.ts'
import { totals } from './totals.ts'

/**
 * Handles a reached deadline: the end of the invoice's life, or confirmations that take too long.
 * Does nothing before it, or in a state without a deadline. The caller must check that the chain has been scanned so far. The scanner
 * may have gone back since then: an invoice whose deadline is after `knownUntil` does not expire.
 */
export function decideDeadline(state: InvoiceState, at: Ms, knownUntil: Ms = at): Decision {
  const due = nextActionAt(state)
  if (due === null || at < due) return null
  if (state.status !== 'confirming') return knownUntil < due ? null : enter(state, 'expired', at)
  const exceptions = [...state.exceptions, { exception: 'stuck' as const, payment: null }]
  return { state: { ...state, exceptions }, effects: [] }
}

/** Cancels an invoice that never received anything in its asset. */
export function decideCancel(state: InvoiceState, attribution: Attribution, at: Ms): Decision {
  const { status } = state
  if (status !== 'new' && status !== 'pending' && status !== 'expired') return { refused: 'not_cancellable' }
  if (totals(state).receivedBase > 0n) return { refused: 'has_funds' }
  return withNote(enter(state, 'cancelled', at), auditWrite('cancelled', attribution))
}

/** Moves the deadline of a test invoice to now; it waits for no scanner. */
export function decideSimulatedExpiry(state: InvoiceState, attribution: Attribution, at: Ms): Decision {
  if (!isSimulatable(state)) return { refused: 'not_simulatable' }
  const expiresAt = at < state.expiresAt ? at : state.expiresAt
  return withNote(enter({ ...state, expiresAt }, 'expired', at), auditWrite('expiry_simulated', attribution))
}

const withNote = (draft: Draft, notes: Draft['effects']): Draft => ({ ...draft, effects: [...draft.effects, ...notes] })
