import { describe, expect, it } from 'vitest'
import { totals } from './totals.ts'
import { StaleObservations, transition } from './transition.ts'
import { aPayment, DEADLINE, DUE, MINUTE, story, storyIn, T0 } from './transition-story.fixture.ts'

const onTimeLate = { firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' }

describe('an operator', () => {
  const accept = (...payments: { payment: string; valueBase: bigint }[]) =>
    ({ type: 'funds_accepted', payments }) as const

  it('accepts a confirmed part as full payment', () => {
    const run = story()
    run.see([aPayment({ amountBase: DUE / 2n, state: 'confirmed' })])
    run.apply({ type: 'deadline_reached' }, [], DEADLINE)
    expect(run.apply(accept())).toEqual(['invoice.paid', '-partial'])
    expect(run.state()).toMatchObject({ status: 'paid', underpaidAccepted: true })
  })

  it('accepts late money and another asset by its value', () => {
    const run = storyIn('expired')
    run.see([aPayment({ ...onTimeLate, rateSeen: null, state: 'confirmed', amountBase: DUE / 2n })])
    run.see([aPayment({ payment: 'f', asset: 'usdc_ethereum', amountBase: 7n, state: 'confirmed' })])
    const both = accept({ payment: 'p1', valueBase: DUE * 9n }, { payment: 'f', valueBase: DUE / 2n })
    expect(run.apply(both)).toEqual(['invoice.paid', '-wrong_asset f', '-late p1'])
    expect(run.state()).toMatchObject({ status: 'paid', paidLate: true, underpaidAccepted: false })
    expect(
      run.see([aPayment({ payment: 'f', asset: 'usdc_ethereum', amountBase: 7n, state: 'orphaned', version: 2 })]),
    ).toEqual(['+reorged f', 'mail payment_reorged f'])
  })

  it('accepts confirmed funds on a cancelled invoice', () => {
    const run = storyIn('cancelled')
    run.see([aPayment({ state: 'confirmed' })])
    expect(run.apply(accept())).toEqual(['invoice.paid', '-cancelled_paid p1'])
  })

  it('notes whose word it was, also when the funds settle the invoice by themselves', () => {
    const run = storyIn('cancelled')
    const event = { ...accept({ payment: 'p1', valueBase: DUE }), by: 'anna' }
    run.see([aPayment({ state: 'confirmed' })])
    expect(run.apply(event)).toEqual(['invoice.paid', 'audit funds_accepted by anna p1', '-cancelled_paid p1'])
    const waiting = story()
    const announced = waiting.apply(event, [aPayment({ state: 'confirmed' })])
    expect(announced.slice(-2)).toEqual(['invoice.paid', 'audit funds_accepted by anna p1'])
  })

  it('never accepts unconfirmed, unknown or worthless funds', () => {
    const run = story()
    run.see([aPayment({ amountBase: DUE / 2n })])
    expect(run.apply(accept())).toEqual(['refused unconfirmed_funds'])
    expect(run.apply(accept({ payment: 'p1', valueBase: 1n }))).toEqual(['refused unconfirmed_funds'])
    expect(run.apply(accept({ payment: 'nobody', valueBase: 1n }))).toEqual(['refused not_acceptable'])
    expect(run.apply(accept({ payment: 'p1', valueBase: 0n }))).toEqual(['refused not_acceptable'])
    expect(story().apply(accept())).toEqual(['refused not_acceptable'])
  })
})

describe('many and tiny payments', () => {
  // Guarantee: a flood of transfers can neither brick nor outgrow an invoice.
  it('beyond a hundred rows the rest is one row', () => {
    const run = story()
    const many = Array.from({ length: 150 }, (_, index) =>
      aPayment({ payment: `m${index}`, amountBase: 2_000n, state: 'confirmed' }),
    )
    const effects = run.see(many)
    expect(effects.filter((text) => text.startsWith('payment.detected'))).toHaveLength(100)
    expect(effects.at(-1)).toBe('+many_payments')
    expect(run.state()).toMatchObject({ status: 'partial', others: { count: 50, seenBase: 100_000n } })
    expect(totals(run.state()).receivedBase).toBe(300_000n)
    run.see([{ ...aPayment({ payment: 'm149', amountBase: 2_000n, state: 'orphaned' }), version: 2 }])
    expect(totals(run.state()).receivedBase).toBe(298_000n)
    run.see([aPayment({ payment: 'z', state: 'confirmed' })])
    expect(run.state().status).toBe('overpaid')
  })

  it('worthless tokens cannot crowd out real payments', () => {
    const run = story()
    run.see(Array.from({ length: 200 }, (_, index) => aPayment({ payment: `w${index}`, asset: 'usdc_ethereum' })))
    expect(run.state().ledger).toHaveLength(20)
    expect(run.see([aPayment()])).toEqual(['payment.detected p1', 'invoice.confirming'])
  })
})

describe('old reads', () => {
  it.each([
    ['an older version', [aPayment()]],
    ['a missing payment', []],
  ])('%s is refused for a new read', (_, observations) => {
    const run = storyIn('confirming')
    run.see([aPayment({ version: 2 })])
    const input = { observations, event: { type: 'payments_changed' }, at: T0 } as const
    expect(() => transition(run.state(), input)).toThrow(StaleObservations)
  })
})
