import type { ExceptionKind } from '../enumerations.ts'
import { isRefundUncovered } from '../payment/refundable.ts'
import {
  type Decision,
  decideAcceptance,
  decideAssetQuoted,
  decideCancel,
  decideCount,
  decideDeadline,
  decideQuoteRenewed,
  decideQuoteResumed,
  decideSimulatedExpiry,
} from './decide.ts'
import { fold } from './fold.ts'
import { observationAge } from './fold-reading.ts'
import type { Effect, InvoiceEvent, PaymentObservation, TransitionInput, TransitionResult } from './invoice-event.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  type LedgerRow,
  type Ms,
  nextActionAt,
  type OpenException,
  type UncountedReason,
} from './model.ts'
import { isSentBack } from './sent-back.ts'
import { type Draft, settle } from './settle.ts'
import { claimedOf, isDust, isLive, isSettled, totals, withClaim } from './totals.ts'

/** The observations are older than the ledger: read invoice and payments again and decide again. */
export class StaleObservations extends Error {
  override readonly name = 'StaleObservations'
}

/**
 * The only place that decides an invoice's next state. Folds the payments into the ledger, then decides the
 * event, and returns one change to save in one write, with all its announcements. Pure: the same input always gives
 * the same result, and repeating it on the result changes nothing. The observations are all stored payments but those that `placeOf` put aside
 * under this `foldKey`. Throws `StaleObservations` when the ledger has a payment, or a version of one, that they lack.
 */
export function transition(state: InvoiceState, input: TransitionInput): TransitionResult {
  const age = observationAge(state, input.observations, input.at)
  if (age === 'stale') throw new StaleObservations('the payments were read before those in the ledger')
  const named = dustToList(state, input.event)
  const isClaimKnown = claimedOf(withClaim(state, input.observations, input.refunds ?? [])) === claimedOf(state)
  const folded = age === 'same' && named.size === 0 && isClaimKnown ? null : foldInSteps(state, input, named)
  const decision = decide(folded?.state ?? state, input)
  if (decision !== null && 'refused' in decision) return { outcome: 'refused', reason: decision.refused }
  const { state: next, effects: announced } = decision ?? folded ?? { state, effects: [] }
  const draft = { ...next, ledger: withBookings(next, input.at) }
  const { exceptions, effects: inbox } = reconcileExceptions(state, draft, input)
  if (folded === null && decision === null && inbox.length === 0) return { outcome: 'unchanged', state }
  const effects = [...(decision === null ? [] : (folded?.effects ?? [])), ...announced, ...inbox]
  return { outcome: 'changed', state: seal(state, { ...draft, exceptions }, effects, input.at), effects }
}

/**
 * Simulated payments are stored as confirmed, but must emit the same events as a real payment: they are folded
 * as detected first and as confirmed after that, in the same change.
 */
function foldInSteps(
  state: InvoiceState,
  { observations, at, knownUntil, refunds = [] }: TransitionInput,
  named: ReadonlySet<string>,
): Draft {
  const step = (from: InvoiceState, seen: readonly PaymentObservation[]) =>
    settle(withClaim(fold(from, seen, at, named), seen, refunds), at, knownUntil)
  const announced = new Set(state.ledger.filter((row) => row.detected).map((row) => row.payment))
  const jumps = (seen: PaymentObservation) =>
    seen.simulated && seen.state === 'confirmed' && !announced.has(seen.payment)
  if (!observations.some(jumps)) return step(state, observations)
  const softened = observations.map((seen) => (jumps(seen) ? { ...seen, state: 'detected' as const } : seen))
  const first = step(state, softened)
  const second = step(first.state, observations)
  return { state: second.state, effects: [...first.effects, ...second.effects] }
}

/** Dust has no row until an operator names it; without one nothing could be stored about it. */
function dustToList(state: InvoiceState, event: InvoiceEvent): ReadonlySet<string> {
  if (event.type !== 'payment_counted' || state.ledger.some((row) => row.payment === event.payment)) return new Set()
  return new Set([event.payment])
}

function decide(state: InvoiceState, { event, at, observations, knownUntil, refunds = [] }: TransitionInput): Decision {
  switch (event.type) {
    case 'payments_changed':
      return null
    case 'asset_chosen':
      return decideAssetQuoted(state, event, at)
    case 'quote_renewed':
      return decideQuoteRenewed(state, event, at)
    case 'payment_method_resumed':
      return decideQuoteResumed(state, event, at)
    case 'deadline_reached':
      return decideDeadline(state, at, knownUntil)
    case 'cancel_requested':
      return decideCancel(state, event, at)
    case 'expiry_simulated':
      return decideSimulatedExpiry(state, event, at)
    case 'funds_accepted':
      return decideAcceptance(state, event, { at, observations, refunds })
    case 'payment_counted':
      return decideCount(state, event, { observations, at, refunds, knownUntil: knownUntil ?? at })
  }
}

/** Notes what confirmed money is worth to the price where that is new, so that the books keep what they said before. */
function withBookings({ ledger, status, paymentMethods }: InvoiceState, at: Ms): readonly LedgerRow[] {
  const active = activePaymentMethod({ paymentMethods })
  return ledger.map((row) => {
    if (row.state !== 'confirmed') return row
    const isCounted = row.counted && row.eligible && status !== 'cancelled'
    const worth = !isCounted ? 'none' : row.acceptedBase === null ? 'own' : 'accepted'
    // Dust, and money in another coin, may have been booked without a row: it was worth nothing until now.
    const isLater = worth === 'accepted' || (worth === 'own' && active !== null && isDust(active, row))
    const { bookings = isLater ? [{ at: row.firstSeenAt, worth: 'none' as const }] : [] } = row
    return bookings.at(-1)?.worth === worth ? row : { ...row, bookings: [...bookings, { at, worth }] }
  })
}

/** Every effect becomes one outbox entry and takes one sequence number, so numbers never have gaps. */
function seal(before: InvoiceState, draft: InvoiceState, effects: readonly Effect[], at: Ms): InvoiceState {
  return {
    ...draft,
    version: before.version + 1,
    eventSeq: before.eventSeq + effects.length,
    updatedAt: at > before.updatedAt ? at : before.updatedAt + 1,
    nextActionAt: nextActionAt(draft),
  }
}

const KIND_OF: Readonly<Record<UncountedReason, ExceptionKind | null>> = {
  wrong_asset: 'wrong_asset',
  wrong_network: 'wrong_network',
  inactive_payment_method: 'wrong_asset',
  out_of_quote: 'out_of_quote',
  unmatched: 'unmatched',
  // Dust is sent to addresses to spam or to trace them: a list full of it would hide real money.
  dust: null,
}

/** Refunds claim more than confirmed money covers. */
const REFUND_UNCOVERED: OpenException = { exception: 'refund_uncovered', payment: null }

/** Rows after which further payments are only summed. */
const ROWS_FULL = 100

/**
 * Computes which exceptions an invoice needs open, from its current state, its state when it was read, the effects in between, and its refunds.
 * Each is opened once, and closed automatically when its reason no longer applies, or the money that it is about was sent back.
 */
function reconcileExceptions(
  before: InvoiceState,
  after: InvoiceState,
  { observations, refunds = [] }: Pick<TransitionInput, 'observations' | 'refunds'>,
): { exceptions: readonly OpenException[]; effects: readonly Effect[] } {
  const uncovered = isRefundUncovered(observations, refunds) ? [REFUND_UNCOVERED] : []
  const needed = [...ofInvoice(after), ...uncovered, ...after.ledger.flatMap((row) => ofPayment(before, after, row))]
  const wanted = needed.filter((open) => !isSentBack(after, open, observations, refunds))
  const closed = before.exceptions.filter((open) => !includes(wanted, open))
  const opened = wanted.filter((open) => !includes(before.exceptions, open))
  const effects: Effect[] = [
    ...closed.map((open): Effect => ({ kind: 'exception_closed', ...open })),
    ...opened.map((open): Effect => ({ kind: 'exception', ...open })),
    ...opened
      .filter((open) => open.exception === 'reorged')
      .map((open): Effect => ({ kind: 'mail', template: 'payment_reorged', payment: open.payment })),
  ]
  return { exceptions: wanted, effects }
}

function ofInvoice(after: InvoiceState): readonly OpenException[] {
  const kinds: ExceptionKind[] = []
  if (after.status === 'expired' && totals(after).onTimeBase > 0n) kinds.push('partial')
  if (after.status === 'overpaid') kinds.push('over')
  if (after.status === 'confirming' && includes(after.exceptions, { exception: 'stuck', payment: null })) {
    kinds.push('stuck')
  }
  if (after.others !== null && after.ledger.length >= ROWS_FULL) kinds.push('many_payments')
  return kinds.map((exception) => ({ exception, payment: null }))
}

function ofPayment(before: InvoiceState, after: InvoiceState, row: LedgerRow): readonly OpenException[] {
  const kind = isLive(row) ? ofLive(before, after, row) : ofGone(before, after, row)
  return kind === null ? [] : [{ exception: kind, payment: row.payment }]
}

function ofLive(before: InvoiceState, after: InvoiceState, row: LedgerRow): ExceptionKind | null {
  if (row.uncountedReason !== null) return KIND_OF[row.uncountedReason]
  if (after.status === 'cancelled') return 'cancelled_paid'
  if (row.late && row.countedByHand !== true && (!row.eligible || after.status === 'expired')) return 'late'
  if (after.status !== 'overpaid') return null
  const known = before.ledger.some((other) => other.payment === row.payment)
  const more = before.status === 'overpaid' && !known && row.eligible
  return more || includes(before.exceptions, { exception: 'over', payment: row.payment }) ? 'over' : null
}

/** Money that settled the invoice and then vanished. Money that vanished before the invoice was paid is not a loss. */
function ofGone(before: InvoiceState, after: InvoiceState, row: LedgerRow): ExceptionKind | null {
  if (!isSettled(after) || !row.counted || !row.eligible || !row.confirmed) return null
  const last = before.ledger.find((other) => other.payment === row.payment)
  const vanished = isSettled(before) && last !== undefined && isLive(last)
  return vanished || includes(before.exceptions, { exception: 'reorged', payment: row.payment }) ? 'reorged' : null
}

function includes(list: readonly OpenException[], one: OpenException): boolean {
  return list.some((open) => open.exception === one.exception && open.payment === one.payment)
}
