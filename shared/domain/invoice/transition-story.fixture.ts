import type { InvoiceStatus } from '../enumerations.ts'
import type { Effect, InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import type { InvoiceState, Ms, PaymentMethod, Quote } from './model.ts'
import { openInvoice } from './open-invoice.ts'
import { transition } from './transition.ts'

/** One minute in milliseconds. */
export const MINUTE: Ms = 60_000
/** Creation time of every invoice in the tests. */
export const T0: Ms = 1_700_000_000_000
/** Base units due on the test payment method. */
export const DUE = 1_000_000n
/** End of the test quote, and of the invoice. */
export const DEADLINE: Ms = T0 + 20 * MINUTE

/** A quote of `DUE` at 1.00, open from T0 to the deadline. */
export function aQuote(change: Partial<Quote> = {}): Quote {
  return {
    amountBase: DUE,
    amount: '1',
    fiatPerAsset: '1.00',
    quotedAt: T0,
    expiresAt: DEADLINE,
    provenance: { snapshotAt: T0, sources: ['a', 'b', 'c'], fxSources: [], spreadBps: 0 },
    ...change,
  }
}

/** A USDT payment method without tolerances, any amount can be sent, grace 60 min, drift 2 %, chain dust 10 base units; its dust changes nothing. */
export function aPaymentMethod(change: Partial<PaymentMethod> = {}): PaymentMethod {
  return {
    asset: 'usdt_ethereum',
    network: 'ethereum',
    family: 'evm',
    symbol: 'USDT',
    decimals: 6,
    address: '0xA1',
    matchKey: 'a1',
    claim: 'test:evm:a1',
    requiredConfirmations: 3,
    policy: {
      toleranceBase: 0n,
      unitBase: 1n,
      sendableBase: 0n,
      lateGraceMs: 60 * MINUTE,
      lateDriftBps: 200,
      depositBps: 500,
      dustBase: 10n,
    },
    quotes: [aQuote()],
    from: T0,
    to: null,
    ...change,
  }
}

/** A second payment method in another asset on another address. */
export function anotherPaymentMethod(change: Partial<PaymentMethod> = {}): PaymentMethod {
  return aPaymentMethod({
    asset: 'usdc_ethereum',
    symbol: 'USDC',
    address: '0xB2',
    matchKey: 'b2',
    claim: 'test:evm:b2',
    ...change,
  })
}

/** A renewal of the test payment method, without its quote. */
export const renewal = {
  type: 'quote_renewed',
  asset: 'usdt_ethereum',
  matchKey: 'a1',
  claim: 'test:evm:a1',
} as const

/** A detected transfer of the whole amount to the test payment method, one minute after creation. */
export function aPayment(change: Partial<PaymentObservation> = {}): PaymentObservation {
  return {
    payment: 'p1',
    version: 1,
    state: 'detected',
    asset: 'usdt_ethereum',
    network: 'ethereum',
    matchKey: 'a1',
    amountBase: DUE,
    firstSeenAt: T0 + MINUTE,
    minedTooLate: false,
    simulated: false,
    rateSeen: null,
    ...change,
  }
}

/** An invoice during a test scenario: it keeps the state and everything announced so far. */
export interface Story {
  readonly state: () => InvoiceState
  /** Applies an event with these payments; returns what it announced in order, or the refusal. */
  readonly apply: (
    event: InvoiceEvent,
    payments?: readonly PaymentObservation[],
    at?: Ms,
    knownUntil?: Ms,
  ) => readonly string[]
  /** `payments_changed` with these payments. */
  readonly see: (payments: readonly PaymentObservation[], at?: Ms) => readonly string[]
}

/** Starts a scenario; payments given to a step stay known in later steps, newer versions replace older ones. */
export function story(
  paymentMethod: PaymentMethod | null = aPaymentMethod(),
  change: Partial<InvoiceState> = {},
): Story {
  let state: InvoiceState = {
    ...openInvoice({ mode: 'test', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, paymentMethod }).state,
    ...change,
  }
  const known = new Map<string, PaymentObservation>()
  const apply: Story['apply'] = (event, payments = [], at = state.updatedAt + 1, knownUntil = at) => {
    for (const one of payments) known.set(one.payment, one)
    const result = transition(state, { observations: [...known.values()], event, at, knownUntil })
    if (result.outcome === 'refused') return [`refused ${result.reason}`]
    state = result.state
    return result.outcome === 'changed' ? result.effects.map(effectName) : []
  }
  return { state: () => state, apply, see: (payments, at) => apply({ type: 'payments_changed' }, payments, at) }
}

/** A scenario that has reached a status in the usual way, its clock one minute after creation (or past the deadline). */
export function storyIn(status: InvoiceStatus): Story {
  const run = story(status === 'new' ? null : aPaymentMethod())
  const half = aPayment({ payment: 'h', amountBase: DUE / 2n })
  if (status === 'partial') run.see([half])
  if (status === 'confirming') run.see([aPayment()])
  if (status === 'paid') run.see([aPayment({ state: 'confirmed' })])
  if (status === 'overpaid') run.see([aPayment({ state: 'confirmed', amountBase: DUE + 1n })])
  if (status === 'expired') run.apply({ type: 'deadline_reached' }, [], DEADLINE)
  if (status === 'cancelled') run.apply({ type: 'cancel_requested' })
  return run
}

/** Short text of an effect: `invoice.paid`, `payment.detected p1`, `+late p1`, `-stuck`, `mail payment_reorged p1`. */
export function effectName(effect: Effect): string {
  const about = effect.payment === null ? '' : ` ${effect.payment}`
  if (effect.kind === 'event') return `${effect.type}${about}`
  if (effect.kind === 'audit') return `audit ${effect.action} by ${effect.by}${about}`
  if (effect.kind === 'mail') return `mail ${effect.template}${about}`
  return `${effect.kind === 'exception' ? '+' : '-'}${effect.exception}${about}`
}
