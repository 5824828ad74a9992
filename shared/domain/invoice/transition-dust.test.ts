import { describe, expect, it } from 'vitest'
import type { InvoiceState } from './model.ts'
import { totals } from './totals.ts'
import {
  anotherPaymentMethod,
  aPayment,
  aPaymentMethod,
  aQuote,
  DEADLINE,
  DUE,
  MINUTE,
  renewal,
  story,
  storyIn,
  T0,
} from './transition-story.fixture.ts'

/** 0.1 % of `DUE`: the smallest amount that is not dust. */
const BOUND = DUE / 1_000n
const dust = (change: Parameters<typeof aPayment>[0] = {}) => aPayment({ payment: 'd', amountBase: 1n, ...change })
const lateDust = { firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' }
const money = ({ status, version: _, updatedAt: __, others: ___, ...rest }: InvoiceState) => ({ status, ...rest })

describe('dust', () => {
  // Guarantee: whoever sends 0.000001 USDT decides nothing about a stranger's invoice.
  it.each(['pending', 'partial', 'confirming', 'paid', 'overpaid', 'expired', 'cancelled'] as const)(
    'changes nothing of an invoice that is %s, in whatever state it is and however late it comes',
    (status) => {
      const run = storyIn(status)
      const before = run.state()
      for (const [index, state] of (['detected', 'confirmed', 'orphaned', 'detected'] as const).entries()) {
        expect(run.see([dust({ state, version: index + 1 })])).toEqual([])
        expect(run.see([dust({ ...lateDust, payment: 'late', state, version: index + 1 })])).toEqual([])
      }
      expect(money(run.state())).toEqual(money(before))
      expect(run.state()).toMatchObject({ others: null, version: before.version })
    },
  )

  it('blocks neither cancel nor another asset nor another price', () => {
    const withDust = () => {
      const run = story()
      run.see([dust({ state: 'confirmed' })])
      return run
    }
    expect(withDust().apply({ type: 'cancel_requested' })).toEqual(['invoice.cancelled'])
    expect(withDust().apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod() })).toEqual([
      'invoice.pending',
    ])
    expect(withDust().apply({ ...renewal, quote: aQuote() })).toEqual(['invoice.pending'])
    const expired = storyIn('expired')
    expired.see([dust({ state: 'confirmed' })])
    expect(expired.apply({ type: 'cancel_requested' })).toEqual(['invoice.cancelled'])
  })

  it('ends at 0.1 % of what was due, and at the dust of the chain where that is more', () => {
    const run = story()
    expect(run.see([dust({ amountBase: BOUND - 1n })])).toEqual([])
    expect(run.see([aPayment({ payment: 'e', amountBase: BOUND })])).toEqual(['payment.detected e', 'invoice.partial'])
    const coarse = story(aPaymentMethod({ policy: { ...aPaymentMethod().policy, dustBase: BOUND * 5n } }))
    expect(coarse.see([dust({ amountBase: BOUND * 5n - 1n })])).toEqual([])
    expect(coarse.see([aPayment({ payment: 'e', amountBase: BOUND * 5n })])).not.toEqual([])
  })

  it('never adds up by itself: ten thousand transfers of 0.05 % count for nothing', () => {
    const run = story()
    const flood = Array.from({ length: 10_000 }, (_, index) => dust({ payment: `d${index}`, amountBase: BOUND / 2n }))
    expect(run.see(flood)).toEqual([])
    expect(run.state()).toMatchObject({ status: 'pending', ledger: [], others: null })
    expect(run.apply({ type: 'cancel_requested' })).toEqual(['invoice.cancelled'])
  })

  it('is never what a test key simulates', () => {
    const run = story()
    expect(run.see([dust({ simulated: true })])).toEqual(['payment.detected d', 'invoice.partial'])
  })

  it('does not decide which promised price holds, nor which asset', () => {
    const run = story(aPaymentMethod({ quotes: [aQuote({ expiresAt: T0 + 5 * MINUTE })] }))
    run.see([dust({ state: 'confirmed' })])
    const dearer = aQuote({ amountBase: DUE * 2n, quotedAt: T0 + 10 * MINUTE })
    run.apply({ ...renewal, quote: dearer }, [], T0 + 10 * MINUTE)
    run.apply({ type: 'payment_counted', payment: 'd' })
    // It keeps the value of its own quote, and the rest has the price of the next one.
    expect(totals(run.state()).dueBase).toBe(DUE * 2n - 1n)
    const switched = story()
    switched.see([dust({ state: 'confirmed' })])
    switched.apply(
      { type: 'asset_chosen', paymentMethod: anotherPaymentMethod({ from: T0 + 2 * MINUTE }) },
      [],
      T0 + 2 * MINUTE,
    )
    switched.see([dust({ payment: 'e' })])
    expect(switched.state()).toMatchObject({ status: 'pending', ledger: [] })
    expect(switched.state().paymentMethods.map(({ to }) => to === null)).toEqual([false, true])
  })
})

describe('a rest below the bound', () => {
  const rest = BOUND / 2n
  const most = (change = {}) => aPayment({ payment: 'a', amountBase: DUE - rest, state: 'confirmed', ...change })
  const small = (payment: string, minutes: number, amountBase = rest) =>
    aPayment({ payment, amountBase, state: 'confirmed', firstSeenAt: T0 + minutes * MINUTE })

  it('completes the invoice, with its own events', () => {
    const run = story()
    run.see([most()])
    expect(run.state().status).toBe('partial')
    expect(run.see([small('b', 2)])).toEqual(['payment.detected b', 'payment.confirmed b', 'invoice.paid'])
    expect(totals(run.state())).toMatchObject({ receivedBase: DUE, settledBase: DUE })
  })

  it('completes nothing when it is short of the rest, or when two are needed', () => {
    const run = story()
    run.see([most()])
    expect(run.see([small('b', 2, rest - 1n), small('c', 3, 1n)])).toEqual([])
    expect(run.state()).toMatchObject({ status: 'partial', others: null })
    expect(run.see([small('d', 4)])).toEqual(['payment.detected d', 'payment.confirmed d', 'invoice.paid'])
  })

  it('counts down to the tolerance of the merchant', () => {
    const run = story(aPaymentMethod({ policy: { ...aPaymentMethod().policy, toleranceBase: 200n } }))
    run.see([most()])
    expect(run.see([small('b', 2, rest - 201n)])).toEqual([])
    expect(run.see([small('c', 3, rest - 200n)]).at(-1)).toBe('invoice.paid')
  })

  // Guarantee: what follows a full payment changes nothing, whoever sends it.
  it('counts once: what is dust after it changes nothing', () => {
    const run = story()
    run.see([most(), small('b', 2)])
    expect(run.state().status).toBe('paid')
    const before = money(run.state())
    for (const minutes of [1, 2, 3, 25]) expect(run.see([small(`x${minutes}`, minutes, BOUND - 1n)])).toEqual([])
    expect(money(run.state())).toEqual(before)
  })

  it('is dust again when what it completed vanishes, and counts again when that returns', () => {
    const run = story()
    const seen = { state: 'detected' } as const
    run.see([most(seen), { ...small('b', 2), ...seen }])
    expect(run.state().status).toBe('confirming')
    expect(run.see([most({ state: 'orphaned', version: 2 })])).toEqual(['invoice.pending'])
    expect(totals(run.state()).receivedBase).toBe(0n)
    expect(run.state().ledger).toMatchObject([{}, { payment: 'b', counted: false, uncountedReason: 'dust' }])
    expect(run.see([most({ version: 3 }), { ...small('b', 2), version: 2 }])).toEqual([
      'payment.confirmed a',
      'payment.confirmed b',
      'invoice.paid',
    ])
  })

  it('counts no more when it vanished, other dust completed the invoice, and it comes back', () => {
    const run = story()
    run.see([most(), { ...small('b', 2), state: 'detected' }])
    expect(run.state().status).toBe('confirming')
    run.see([{ ...small('b', 2), state: 'replaced', version: 2 }, small('c', 3)])
    expect(run.state().status).toBe('paid')
    expect(run.see([{ ...small('b', 2), version: 3 }])).toEqual([])
    expect(totals(run.state()).receivedBase).toBe(DUE)
  })

  it('stays what it was checked when the invoice is paid and the chain is rewritten', () => {
    const run = story()
    run.see([most(), small('b', 2)])
    expect(run.see([most({ state: 'orphaned', version: 2 })])).toEqual(['+reorged a', 'mail payment_reorged a'])
    expect(totals(run.state()).receivedBase).toBe(rest)
    expect(run.see([most({ version: 3 })])).toEqual(['-reorged a'])
    expect(totals(run.state()).receivedBase).toBe(DUE)
  })

  it('completes the invoice within the grace after its end as well, and is marked as late', () => {
    const run = story()
    run.see([most()])
    run.apply({ type: 'deadline_reached' }, [], DEADLINE)
    expect(run.see([small('a0', 25, rest - 1n)])).toEqual([])
    expect(run.see([small('b', 26)])).toEqual([
      'invoice.late_payment b',
      'payment.detected b',
      'payment.confirmed b',
      'invoice.paid',
      '-partial',
    ])
    expect(run.state()).toMatchObject({ status: 'paid', paidLate: true, underpaidAccepted: false })
    expect(run.see([small('c', 27)])).toEqual([])
  })

  it.each([
    ['beyond the grace', { firstSeenAt: DEADLINE + 61 * MINUTE }, {}],
    ['mined too late', { minedTooLate: true }, {}],
    ['where the merchant takes nothing late', { firstSeenAt: DEADLINE + MINUTE }, { lateGraceMs: 0 }],
    ['where another payer got the use of the link', {}, { isUseGone: true }],
  ] as const)('completes nothing %s: a person decides', (_, change, bounds) => {
    const run = story(aPaymentMethod({ policy: { ...aPaymentMethod().policy, ...bounds } }))
    run.see([most({ amountBase: DUE - rest, ...('isUseGone' in bounds ? { firstSeenAt: T0 } : {}) })])
    run.apply({ type: 'deadline_reached' }, [], DEADLINE)
    expect(run.see([{ ...small('b', 2), ...change }])).toEqual([])
    expect(run.state()).toMatchObject({ status: 'expired' })
    expect(run.apply({ type: 'payment_counted', payment: 'b', by: 'anna' })).toContain('payment.detected b')
  })

  it('stops counting when late dust completes nothing any more, and counts again with what it completed', () => {
    const run = story()
    run.see([most()])
    run.apply({ type: 'deadline_reached' }, [], DEADLINE)
    run.see([{ ...small('b', 25), state: 'detected' }])
    expect(run.state().status).toBe('confirming')
    expect(run.see([most({ state: 'orphaned', version: 2 })])).toEqual(['invoice.expired', '-partial'].slice(0, 1))
    expect(totals(run.state()).receivedBase).toBe(0n)
    run.see([most({ version: 3 }), { ...small('b', 25), version: 2 }])
    expect(run.state()).toMatchObject({ status: 'paid', paidLate: true })
  })
})

describe('an operator who counts dust', () => {
  const count = { type: 'payment_counted', payment: 'd', by: 'anna', reason: 'a rest' } as const

  it('puts it into the sums with its own amount, announced, and the status follows', () => {
    const run = story()
    run.see([dust({ state: 'confirmed' })])
    expect(run.apply(count)).toEqual([
      'payment.detected d',
      'invoice.partial',
      'payment.confirmed d',
      'audit payment_counted by anna d',
    ])
    expect(totals(run.state()).receivedBase).toBe(1n)
    expect(run.state().others).toBeNull()
    const version = run.state().version
    expect(run.apply(count)).toEqual([])
    expect(run.state().version).toBe(version)
    expect(run.apply({ type: 'cancel_requested' })).toEqual(['refused not_cancellable'])
  })

  it('is obeyed through reorganisations', () => {
    const run = story()
    run.see([dust({ state: 'confirmed' })])
    run.apply(count)
    expect(run.see([dust({ state: 'orphaned', version: 2 })])).toEqual(['invoice.pending'])
    expect(run.see([dust({ state: 'confirmed', version: 3 })])).toEqual(['invoice.partial'])
    expect(totals(run.state()).receivedBase).toBe(1n)
  })

  it('is refused for dust that is not confirmed or not in the asset asked for, and for other money', () => {
    const run = story()
    run.see([dust(), aPayment({ payment: 'x', amountBase: DUE / 2n })])
    expect(run.apply(count)).toEqual(['refused unconfirmed_funds'])
    expect(run.apply({ ...count, payment: 'x' })).toEqual(['refused not_countable'])
    expect(run.apply({ ...count, payment: 'nobody' })).toEqual(['refused not_countable'])
    const foreign = story()
    foreign.see([dust({ asset: 'usdc_ethereum', state: 'confirmed' })])
    expect(foreign.apply(count)).toEqual(['refused not_countable'])
    const switched = story()
    switched.see([dust({ state: 'confirmed' })])
    switched.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod() })
    expect(switched.apply(count)).toEqual(['refused not_countable'])
  })
})
