import { describe, expect, it } from 'vitest'
import { INVOICE_STATUSES, type InvoiceStatus } from '../enumerations.ts'
import type { InvoiceEvent, InvoiceEventType } from './invoice-event.ts'
import {
  anotherPaymentMethod,
  aPayment,
  aQuote,
  DEADLINE,
  DUE,
  MINUTE,
  renewal,
  story,
  storyIn,
} from './transition-story.fixture.ts'

/** `=` is unchanged; a status is where it leads; `409 <reason>` is a refusal. */
type Expectation = '=' | InvoiceStatus | `409 ${string}`

const choosable = {
  asset_chosen: '409 no_open_price',
  payment_method_resumed: '409 no_open_price',
  quote_renewed: '409 no_open_price',
} as const

// Events come with nothing new, apart from these.
const PAYMENTS: Partial<Record<InvoiceEventType, readonly Parameters<typeof aPayment>[0][]>> = {
  payments_changed: [{ payment: 'x', state: 'confirmed' }],
  payment_counted: [{ payment: 'd', state: 'confirmed', amountBase: 9n }],
}

const TABLE: Record<InvoiceStatus, Record<InvoiceEventType, Expectation>> = {
  new: {
    payments_changed: 'new',
    asset_chosen: 'pending',
    payment_method_resumed: '409 no_open_price',
    quote_renewed: '409 no_open_price',
    deadline_reached: 'expired',
    cancel_requested: 'cancelled',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 not_acceptable',
    payment_counted: '409 not_countable',
  },
  pending: {
    payments_changed: 'paid',
    asset_chosen: 'pending',
    payment_method_resumed: '=',
    quote_renewed: 'pending',
    deadline_reached: 'expired',
    cancel_requested: 'cancelled',
    expiry_simulated: 'expired',
    funds_accepted: '409 not_acceptable',
    payment_counted: 'partial',
  },
  partial: {
    ...choosable,
    quote_renewed: 'partial',
    payments_changed: 'paid',
    deadline_reached: 'expired',
    cancel_requested: '409 not_cancellable',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 unconfirmed_funds',
    payment_counted: 'partial',
  },
  confirming: {
    ...choosable,
    payments_changed: 'paid',
    deadline_reached: '=',
    cancel_requested: '409 not_cancellable',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 not_acceptable',
    payment_counted: 'confirming',
  },
  paid: {
    ...choosable,
    payments_changed: 'overpaid',
    deadline_reached: '=',
    cancel_requested: '409 not_cancellable',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 not_acceptable',
    payment_counted: 'overpaid',
  },
  overpaid: {
    ...choosable,
    payments_changed: 'overpaid',
    deadline_reached: '=',
    cancel_requested: '409 not_cancellable',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 not_acceptable',
    payment_counted: 'overpaid',
  },
  expired: {
    ...choosable,
    payments_changed: 'paid',
    deadline_reached: '=',
    cancel_requested: 'cancelled',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 not_acceptable',
    payment_counted: 'expired',
  },
  cancelled: {
    ...choosable,
    payments_changed: 'cancelled',
    deadline_reached: '=',
    cancel_requested: '409 not_cancellable',
    expiry_simulated: '409 not_simulatable',
    funds_accepted: '409 not_acceptable',
    payment_counted: '409 not_countable',
  },
}

const EVENTS: Record<InvoiceEventType, InvoiceEvent> = {
  payments_changed: { type: 'payments_changed' },
  asset_chosen: { type: 'asset_chosen', paymentMethod: anotherPaymentMethod() },
  payment_method_resumed: { type: 'payment_method_resumed', asset: 'usdt_ethereum', matchKey: 'a1' },
  quote_renewed: { ...renewal, quote: aQuote() },
  deadline_reached: { type: 'deadline_reached' },
  cancel_requested: { type: 'cancel_requested' },
  expiry_simulated: { type: 'expiry_simulated' },
  funds_accepted: { type: 'funds_accepted', payments: [] },
  payment_counted: { type: 'payment_counted', payment: 'd' },
}

/** In `partial` half of the price is paid. */
const HALF = DUE / 2n
const RENEWED_REST: InvoiceEvent = {
  ...renewal,
  quote: aQuote({ amountBase: HALF, rest: { wholeBase: DUE, restBase: HALF } }),
}

describe('every event in every status', () => {
  for (const status of INVOICE_STATUSES) {
    for (const [type, expected] of Object.entries(TABLE[status])) {
      it(`${status} + ${type} → ${expected}`, () => {
        const run = storyIn(status)
        const before = run.state()
        expect(before.status).toBe(status)
        const isRest = status === 'partial' && type === 'quote_renewed'
        const event = isRest ? RENEWED_REST : EVENTS[type as InvoiceEventType]
        const payments = (PAYMENTS[type as InvoiceEventType] ?? []).map(aPayment)
        const at = type === 'deadline_reached' ? DEADLINE : undefined
        const effects = run.apply(event, payments, at)
        if (expected.startsWith('409')) {
          expect(effects).toEqual([`refused ${expected.slice(4)}`])
          expect(run.state()).toBe(before)
        } else if (expected === '=') {
          expect(run.state()).toBe(before)
        } else {
          expect(run.state()).toMatchObject({ status: expected, version: before.version + 1 })
          expect(run.state().eventSeq).toBe(before.eventSeq + effects.length)
        }
      })
    }
  }
})

describe('the usual way', () => {
  it('announces a lock, a detection and a payment in the order of the documents', () => {
    const run = story(null)
    expect(
      run.apply({
        type: 'asset_chosen',
        paymentMethod: anotherPaymentMethod({ matchKey: 'a1', asset: 'usdt_ethereum' }),
      }),
    ).toEqual(['invoice.pending'])
    expect(run.see([aPayment()])).toEqual(['payment.detected p1', 'invoice.confirming'])
    expect(run.see([aPayment({ state: 'confirmed', version: 2 })])).toEqual(['payment.confirmed p1', 'invoice.paid'])
    expect(run.state()).toMatchObject({
      status: 'paid',
      paidLate: false,
      underpaidAccepted: false,
      nextActionAt: null,
    })
  })

  it('jumps silently over states that one observation skips', () => {
    expect(story().see([aPayment({ state: 'confirmed' })])).toEqual([
      'payment.detected p1',
      'payment.confirmed p1',
      'invoice.paid',
    ])
  })

  it('shows every state of a simulated payment in one change', () => {
    const run = story()
    const version = run.state().version
    expect(run.see([aPayment({ simulated: true, state: 'confirmed' })])).toEqual([
      'payment.detected p1',
      'invoice.confirming',
      'payment.confirmed p1',
      'invoice.paid',
    ])
    expect(run.state().version).toBe(version + 1)
  })

  it('announces partial sums each time they grow and never twice', () => {
    const run = story()
    const part = (payment: string, change = {}) => aPayment({ payment, amountBase: DUE / 4n, ...change })
    expect(run.see([part('a')])).toEqual(['payment.detected a', 'invoice.partial'])
    expect(run.see([part('b')])).toEqual(['payment.detected b', 'invoice.partial'])
    expect(run.see([part('b', { state: 'dropped', version: 2 })])).toEqual([])
    expect(run.see([part('b', { version: 3 })])).toEqual([])
    expect(run.see([part('a', { state: 'confirmed', version: 2 })])).toEqual(['payment.confirmed a'])
    expect(run.see([part('c')])).toEqual(['payment.detected c', 'invoice.partial'])
    expect(run.see([part('d')])).toEqual(['payment.detected d', 'invoice.confirming'])
  })

  it('turns paid into overpaid only by confirmed money', () => {
    const run = storyIn('paid')
    expect(run.see([aPayment({ payment: 'x', amountBase: 5_000n })])).toEqual(['payment.detected x'])
    expect(run.state().status).toBe('paid')
    expect(run.see([aPayment({ payment: 'x', amountBase: 5_000n, state: 'confirmed', version: 2 })])).toEqual([
      'payment.confirmed x',
      'invoice.overpaid',
      '+over',
    ])
    expect(run.see([aPayment({ payment: 'y', amountBase: 5_000n })])).toEqual(['payment.detected y', '+over y'])
  })

  it('a newer version is saved even when nothing visible changes', () => {
    const run = storyIn('confirming')
    const before = run.state().version
    expect(run.see([aPayment({ version: 2 })])).toEqual([])
    expect(run.state().version).toBe(before + 1)
  })
})

describe('time', () => {
  it('a deadline that comes too early does nothing', () => {
    const run = story()
    run.apply({ type: 'deadline_reached' }, [], DEADLINE - 1)
    expect(run.state().status).toBe('pending')
  })

  it('opens one exception when confirmations take more than a day, and closes it when they come', () => {
    const run = storyIn('confirming')
    const day = run.state().nextActionAt ?? 0
    expect(day).toBe((run.state().confirmingSince ?? 0) + 24 * 60 * MINUTE)
    expect(run.apply({ type: 'deadline_reached' }, [], day - 1)).toEqual([])
    expect(run.apply({ type: 'deadline_reached' }, [], day)).toEqual(['+stuck'])
    expect(run.state().nextActionAt).toBeNull()
    const version = run.state().version
    expect(run.apply({ type: 'deadline_reached' }, [], day + MINUTE)).toEqual([])
    expect(run.state().version).toBe(version)
    expect(run.see([aPayment({ state: 'confirmed', version: 2 })])).toEqual([
      'payment.confirmed p1',
      'invoice.paid',
      '-stuck',
    ])
  })

  it('updatedAt always rises, whatever the clock does', () => {
    const run = story()
    run.see([aPayment()], 5)
    expect(run.state().updatedAt).toBe(run.state().createdAt + 1)
  })
})
