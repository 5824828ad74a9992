import { describe, expect, it } from 'vitest'
import { totals } from './totals.ts'
import { aPayment, aPaymentMethod, DEADLINE, DUE, MINUTE, story, storyIn } from './transition-story.fixture.ts'

const onTimeLate = { firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' }

describe('steps back', () => {
  it('confirming falls to partial, pending or expired and announces the state entered, and again on return', () => {
    const run = story()
    const half = aPayment({ payment: 'h', amountBase: DUE / 2n })
    run.see([half, aPayment({ amountBase: DUE / 2n })])
    expect(run.state().status).toBe('confirming')
    expect(run.see([aPayment({ amountBase: DUE / 2n, state: 'replaced', version: 2 })])).toEqual(['invoice.partial'])
    expect(run.see([{ ...half, state: 'dropped', version: 2 }])).toEqual(['invoice.pending'])
    expect(run.state()).toMatchObject({ status: 'pending', confirmingSince: null, nextActionAt: DEADLINE })
    expect(run.see([{ ...half, version: 3 }, aPayment({ amountBase: DUE / 2n, version: 3 })])).toEqual([
      'invoice.confirming',
    ])
  })

  it('checks the deadline again on a step back', () => {
    const run = storyIn('confirming')
    expect(run.apply({ type: 'deadline_reached' }, [], DEADLINE + MINUTE)).toEqual([])
    expect(run.see([aPayment({ state: 'orphaned', version: 2 })], DEADLINE + MINUTE)).toEqual(['invoice.expired'])
  })

  // Guarantee: a payment in time that left its block may be found in another one, so it ends no invoice meanwhile.
  it('ends nothing at a deadline that the chain is no longer known up to', () => {
    const run = story()
    run.see([aPayment({ amountBase: DUE / 2n })])
    const gone = aPayment({ amountBase: DUE / 2n, state: 'orphaned', version: 2 })
    const [late, before] = [DEADLINE + MINUTE, DEADLINE - MINUTE]
    expect(run.apply({ type: 'deadline_reached' }, [], late, before)).toEqual([])
    expect(run.apply({ type: 'deadline_reached' }, [gone], late, before)).toEqual(['invoice.pending'])
    expect(run.apply({ type: 'deadline_reached' }, [], late, before)).toEqual([])
    expect(run.apply({ type: 'deadline_reached' }, [], late, DEADLINE)).toEqual(['invoice.expired'])
  })

  // Guarantee: goods may have been shipped, so a reorg never silently takes a payment back.
  it('a paid invoice stays paid when its payment is orphaned; the owner is told once, and the return is silent', () => {
    const run = storyIn('paid')
    const gone = aPayment({ state: 'orphaned', version: 2 })
    expect(run.see([gone])).toEqual(['+reorged p1', 'mail payment_reorged p1'])
    expect(run.state()).toMatchObject({ status: 'paid', underpaidAccepted: false })
    expect(run.see([{ ...gone, version: 3 }])).toEqual([])
    expect(run.see([aPayment({ version: 4 })])).toEqual(['-reorged p1'])
    expect(run.see([aPayment({ state: 'confirmed', version: 5 })])).toEqual([])
  })

  it('money that vanished before the invoice was paid is no loss', () => {
    const run = story()
    run.see([aPayment({ payment: 'a', amountBase: DUE / 2n, state: 'confirmed' })])
    run.see([aPayment({ payment: 'a', amountBase: DUE / 2n, state: 'orphaned', version: 2 })])
    expect(run.see([aPayment({ payment: 'b', state: 'confirmed' })])).not.toContain('+reorged a')
  })
})

describe('late money', () => {
  it('settles within grace and drift, after announcing that it was late', () => {
    const run = storyIn('expired')
    expect(run.see([aPayment(onTimeLate)])).toEqual([
      'invoice.late_payment p1',
      'payment.detected p1',
      'invoice.confirming',
    ])
    expect(run.see([aPayment({ ...onTimeLate, state: 'confirmed', version: 2 })])).toEqual([
      'payment.confirmed p1',
      'invoice.paid',
    ])
    expect(run.state()).toMatchObject({ status: 'paid', paidLate: true })
  })

  it('steps back to expired when it is gone', () => {
    const run = storyIn('expired')
    run.see([aPayment(onTimeLate)])
    expect(run.see([aPayment({ ...onTimeLate, state: 'orphaned', version: 2 })], DEADLINE + 2 * MINUTE)).toEqual([
      'invoice.expired',
    ])
    expect(run.state().paidLate).toBe(false)
  })

  it.each([
    ['beyond grace', { firstSeenAt: DEADLINE + 61 * MINUTE, rateSeen: '1.00' }],
    ['beyond drift', { firstSeenAt: DEADLINE + MINUTE, rateSeen: '0.979999' }],
    ['without a rate', { firstSeenAt: DEADLINE + MINUTE, rateSeen: null }],
    ['in time but mined too late', { minedTooLate: true, rateSeen: '1.00' }],
  ])('stays expired %s and waits for an operator', (_, change) => {
    const run = storyIn('expired')
    expect(run.see([aPayment({ ...change, state: 'confirmed' })])).toEqual([
      'invoice.late_payment p1',
      'payment.detected p1',
      'payment.confirmed p1',
      '+late p1',
    ])
    expect(run.state()).toMatchObject({ status: 'expired', paidLate: true })
    expect(totals(run.state())).toMatchObject({ receivedBase: DUE, confirmedBase: DUE, seenBase: 0n, settledBase: 0n })
    expect(run.apply({ type: 'cancel_requested' })).toEqual(['refused has_funds'])
  })

  it.each(['0.98', '1.50'])('counts drift only against the merchant: %s settles', (rateSeen) => {
    const run = storyIn('expired')
    run.see([aPayment({ ...onTimeLate, rateSeen, state: 'confirmed' })])
    expect(run.state().status).toBe('paid')
  })

  it('is checked once: a better rate later changes nothing', () => {
    const run = storyIn('expired')
    run.see([aPayment({ ...onTimeLate, rateSeen: null })])
    run.see([aPayment({ ...onTimeLate, rateSeen: '1.00', state: 'confirmed', version: 2 })])
    expect(run.state().status).toBe('expired')
  })

  it('a part stays expired with one notice per payment until the sum suffices', () => {
    const run = storyIn('expired')
    const part = (payment: string) => aPayment({ ...onTimeLate, payment, amountBase: DUE / 2n })
    expect(run.see([part('a')])).toEqual(['invoice.late_payment a', 'payment.detected a', '+late a'])
    expect(run.see([part('b')])).toEqual([
      'invoice.late_payment b',
      'payment.detected b',
      'invoice.confirming',
      '-late a',
    ])
  })

  it('first seen before the deadline is not late, whenever we learn of it', () => {
    const run = storyIn('expired')
    expect(run.see([aPayment({ state: 'confirmed' })], DEADLINE + 60 * MINUTE)).toEqual([
      'payment.detected p1',
      'payment.confirmed p1',
      'invoice.paid',
    ])
    expect(run.state().paidLate).toBe(false)
  })

  it('on time by mempool turns late when it is mined too long after the deadline', () => {
    const run = storyIn('confirming')
    expect(run.see([aPayment({ minedTooLate: true, version: 2 })], DEADLINE + 25 * 60 * MINUTE)).toEqual([
      'invoice.late_payment p1',
      'invoice.expired',
      '+late p1',
    ])
  })

  it('does not mark an invoice that was paid in time', () => {
    const run = storyIn('confirming')
    run.see([aPayment({ ...onTimeLate, payment: 'x', amountBase: 5_000n })])
    run.see([aPayment({ state: 'confirmed', version: 2 })])
    expect(run.state()).toMatchObject({ status: 'paid', paidLate: false })
  })

  it('expiring with a part opens the inbox entry', () => {
    const run = storyIn('partial')
    expect(run.apply({ type: 'deadline_reached' }, [], DEADLINE)).toEqual(['invoice.expired', '+partial'])
  })
})

describe('tolerances', () => {
  const paymentMethod = aPaymentMethod({
    policy: { ...aPaymentMethod().policy, toleranceBase: 1_000n, sendableBase: 2_000n },
  })

  // Guarantee: nobody is credited as paid below due minus tolerance.
  it('accepts what is missing up to the bound and says so', () => {
    const run = story(paymentMethod)
    run.see([aPayment({ amountBase: DUE - 1_000n, state: 'confirmed' })])
    expect(run.state()).toMatchObject({ status: 'paid', underpaidAccepted: true })
    const short = story(paymentMethod)
    short.see([aPayment({ amountBase: DUE - 1_001n, state: 'confirmed' })])
    expect(short.state().status).toBe('partial')
  })

  it('forgives excess up to the bound', () => {
    const run = story(paymentMethod)
    run.see([aPayment({ amountBase: DUE + 2_000n, state: 'confirmed' })])
    expect(run.state().status).toBe('paid')
    run.see([aPayment({ payment: 'x', amountBase: 1_000n, state: 'confirmed' })])
    expect(run.state().status).toBe('overpaid')
  })
})
