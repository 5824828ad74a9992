import { claimedBase, type RefundClaim, refundableBase } from '../payment/refundable.ts'
import { auditWrite } from './audit-effect.ts'
import type { Decision } from './decision.ts'
import type { InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import { activePaymentMethod, type InvoiceState, type LedgerRow, type Ms } from './model.ts'
import { type Draft, enter } from './settle.ts'
import { isLive, isSettled, settlement } from './totals.ts'

/** An operator's decision that funds settle the invoice. */
type Acceptance = Extract<InvoiceEvent, { type: 'funds_accepted' }>

/** What it is decided on beside the state. */
interface Known {
  readonly at: Ms
  readonly observations: readonly PaymentObservation[]
  readonly refunds: readonly RefundClaim[]
}

/**
 * Accepts confirmed funds as full payment of an invoice that would not settle automatically. Without a list, everything received
 * is accepted. Listed money in another asset counts with the given value and is attached without events; money in
 * the chosen asset counts with its own amount. Listed money that settled the invoice on its own needs no decision. Money that goes back to
 * the customer settles nothing: refused where refunds claim it, other confirmed money of the coin does not cover them, and less than the amount due would be left.
 */
export function decideAcceptance(
  state: InvoiceState,
  event: Acceptance,
  { at, observations, refunds }: Known,
): Decision {
  const { status } = state
  if (settledByItself(state, event)) return note(event, { state, effects: [] })
  const open = status === 'pending' || status === 'partial' || status === 'expired' || status === 'cancelled'
  if (!open || activePaymentMethod(state) === null) return { refused: 'not_acceptable' }
  const values = new Map(event.payments.map((one) => [one.payment, one.valueBase]))
  const all = values.size === 0
  const chosen = state.ledger.filter((row) => isLive(row) && (all ? row.counted : values.has(row.payment)))
  const missing = !all && chosen.length < values.size
  if (missing || [...values.values()].some((valueBase) => valueBase <= 0n)) return { refused: 'not_acceptable' }
  if (chosen.some((row) => row.state !== 'confirmed')) return { refused: 'unconfirmed_funds' }
  const accepted = new Set(chosen)
  const ledger = state.ledger.map((row) => (accepted.has(row) ? accept(row, values.get(row.payment)) : row))
  const attached = { ...state, ledger }
  const settled = settlement(attached, 'settled')
  if (settled.base === 0n) return { refused: 'not_acceptable' }
  if (isClaimed(attached, chosen, { observations, refunds })) return { refused: 'refunded_funds' }
  return note(event, enter(attached, settled.isTooMuch ? 'overpaid' : 'paid', at))
}

function isClaimed(
  attached: InvoiceState,
  chosen: readonly LedgerRow[],
  { observations, refunds }: Pick<Known, 'observations' | 'refunds'>,
): boolean {
  const asset = activePaymentMethod(attached)?.asset
  const { base, dueBase } = settlement(attached, 'settled')
  const claimed = asset === undefined ? 0n : claimedBase(asset, refunds)
  if (asset !== undefined && claimed > 0n && base - claimed < dueBase) {
    // Refunds take other money of the coin first, which settles nothing: a payment at no price, or one that came twice.
    const counted = new Set(attached.ledger.filter((row) => row.counted && row.eligible).map(({ payment }) => payment))
    const settling = observations.filter((seen) => counted.has(seen.payment))
    if (refundableBase(asset, observations, []) - refundableBase(asset, settling, []) < claimed) return true
  }
  const keys = new Set(chosen.map(({ payment }) => payment))
  return observations.some((seen) => {
    if (!keys.has(seen.payment) || seen.asset === null || seen.asset === asset) return false
    return claimedBase(seen.asset, refunds) > 0n && refundableBase(seen.asset, observations, refunds) < seen.amountBase
  })
}

function settledByItself(state: InvoiceState, event: Acceptance): boolean {
  if (event.by === undefined || event.payments.length === 0 || !isSettled(state)) return false
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  return event.payments.every(({ payment }) => {
    const row = rows.get(payment)
    return row?.counted === true && row.eligible && isLive(row)
  })
}

/** One audit entry for each payment that a named person accepted. */
function note(event: Acceptance, draft: Draft): Draft {
  const { payments } = event
  const accepted = payments.length === 0 ? [null] : payments.map(({ payment }) => payment)
  return {
    ...draft,
    effects: [...draft.effects, ...accepted.flatMap((one) => auditWrite('funds_accepted', event, one))],
  }
}

function accept(row: LedgerRow, valueBase: bigint | undefined): LedgerRow {
  const inLockedAsset = row.counted || row.uncountedReason === 'out_of_quote'
  return {
    ...row,
    counted: true,
    uncountedReason: null,
    eligible: true,
    acceptedBase: inLockedAsset ? row.amountBase : (valueBase ?? row.amountBase),
    detected: true,
    confirmed: true,
  }
}
