import { describe, expect, it } from 'vitest'
import { totals } from './totals.ts'
import { aLock, aPayment, DEADLINE, DUE, MINUTE, story, storyIn } from './transition-fixtures.ts'

const onTimeLate = { firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' }

describe('steps back', () => {
  it('confirming falls to partial, pending or expired and announces the state entered, and again on return', () => {
    const told = story()
    const half = aPayment({ payment: 'h', amountBase: DUE / 2n })
    told.see([half, aPayment({ amountBase: DUE / 2n })])
    expect(told.state().status).toBe('confirming')
    expect(told.see([aPayment({ amountBase: DUE / 2n, state: 'replaced', version: 2 })])).toEqual(['invoice.partial'])
    expect(told.see([{ ...half, state: 'dropped', version: 2 }])).toEqual(['invoice.pending'])
    expect(told.state()).toMatchObject({ status: 'pending', confirmingSince: null, nextActionAt: DEADLINE })
    expect(told.see([{ ...half, version: 3 }, aPayment({ amountBase: DUE / 2n, version: 3 })])).toEqual([
      'invoice.confirming',
    ])
  })

  it('judges the deadline again on a step back', () => {
    const told = storyIn('confirming')
    expect(told.apply({ type: 'deadline_reached' }, [], DEADLINE + MINUTE)).toEqual([])
    expect(told.see([aPayment({ state: 'orphaned', version: 2 })], DEADLINE + MINUTE)).toEqual(['invoice.expired'])
  })

  // Guarantee: goods may have been shipped, so a reorg never silently takes a payment back.
  it('a paid invoice stays paid when its payment is orphaned; the owner is told once, and the return is silent', () => {
    const told = storyIn('paid')
    const gone = aPayment({ state: 'orphaned', version: 2 })
    expect(told.see([gone])).toEqual(['+reorged p1', 'mail payment_reorged p1'])
    expect(told.state()).toMatchObject({ status: 'paid', underpaidAccepted: false })
    expect(told.see([{ ...gone, version: 3 }])).toEqual([])
    expect(told.see([aPayment({ version: 4 })])).toEqual(['-reorged p1'])
    expect(told.see([aPayment({ state: 'confirmed', version: 5 })])).toEqual([])
  })

  it('money that vanished before the invoice was paid is no loss', () => {
    const told = story()
    told.see([aPayment({ payment: 'a', amountBase: DUE / 2n, state: 'confirmed' })])
    told.see([aPayment({ payment: 'a', amountBase: DUE / 2n, state: 'orphaned', version: 2 })])
    expect(told.see([aPayment({ payment: 'b', state: 'confirmed' })])).not.toContain('+reorged a')
  })
})

describe('late money', () => {
  it('settles within grace and drift, after announcing that it was late', () => {
    const told = storyIn('expired')
    expect(told.see([aPayment(onTimeLate)])).toEqual([
      'invoice.late_payment p1',
      'payment.detected p1',
      'invoice.confirming',
    ])
    expect(told.see([aPayment({ ...onTimeLate, state: 'confirmed', version: 2 })])).toEqual([
      'payment.confirmed p1',
      'invoice.paid',
    ])
    expect(told.state()).toMatchObject({ status: 'paid', paidLate: true })
  })

  it('steps back to expired when it is gone', () => {
    const told = storyIn('expired')
    told.see([aPayment(onTimeLate)])
    expect(told.see([aPayment({ ...onTimeLate, state: 'orphaned', version: 2 })], DEADLINE + 2 * MINUTE)).toEqual([
      'invoice.expired',
    ])
    expect(told.state().paidLate).toBe(false)
  })

  it.each([
    ['beyond grace', { firstSeenAt: DEADLINE + 61 * MINUTE, rateSeen: '1.00' }],
    ['beyond drift', { firstSeenAt: DEADLINE + MINUTE, rateSeen: '0.979999' }],
    ['without a rate', { firstSeenAt: DEADLINE + MINUTE, rateSeen: null }],
    ['in time but mined too late', { minedTooLate: true, rateSeen: '1.00' }],
  ])('stays expired %s and waits for an operator', (_, change) => {
    const told = storyIn('expired')
    expect(told.see([aPayment({ ...change, state: 'confirmed' })])).toEqual([
      'invoice.late_payment p1',
      'payment.detected p1',
      'payment.confirmed p1',
      '+late p1',
    ])
    expect(told.state()).toMatchObject({ status: 'expired', paidLate: true })
    expect(totals(told.state())).toMatchObject({ receivedBase: DUE, confirmedBase: DUE, seenBase: 0n, settledBase: 0n })
    expect(told.apply({ type: 'cancel_requested' })).toEqual(['refused has_funds'])
  })

  it.each(['0.98', '1.50'])('counts drift only against the merchant: %s settles', (rateSeen) => {
    const told = storyIn('expired')
    told.see([aPayment({ ...onTimeLate, rateSeen, state: 'confirmed' })])
    expect(told.state().status).toBe('paid')
  })

  it('is judged once: a better rate later changes nothing', () => {
    const told = storyIn('expired')
    told.see([aPayment({ ...onTimeLate, rateSeen: null })])
    told.see([aPayment({ ...onTimeLate, rateSeen: '1.00', state: 'confirmed', version: 2 })])
    expect(told.state().status).toBe('expired')
  })

  it('a part stays expired with one notice per payment until the sum suffices', () => {
    const told = storyIn('expired')
    const part = (payment: string) => aPayment({ ...onTimeLate, payment, amountBase: DUE / 2n })
    expect(told.see([part('a')])).toEqual(['invoice.late_payment a', 'payment.detected a', '+late a'])
    expect(told.see([part('b')])).toEqual([
      'invoice.late_payment b',
      'payment.detected b',
      'invoice.confirming',
      '-late a',
    ])
  })

  it('first seen before the deadline is not late, whenever we learn of it', () => {
    const told = storyIn('expired')
    expect(told.see([aPayment({ state: 'confirmed' })], DEADLINE + 60 * MINUTE)).toEqual([
      'payment.detected p1',
      'payment.confirmed p1',
      'invoice.paid',
    ])
    expect(told.state().paidLate).toBe(false)
  })

  it('on time by mempool turns late when it is mined too long after the deadline', () => {
    const told = storyIn('confirming')
    expect(told.see([aPayment({ minedTooLate: true, version: 2 })], DEADLINE + 25 * 60 * MINUTE)).toEqual([
      'invoice.late_payment p1',
      'invoice.expired',
      '+late p1',
    ])
  })

  it('does not mark an invoice that was paid in time', () => {
    const told = storyIn('confirming')
    told.see([aPayment({ ...onTimeLate, payment: 'x', amountBase: 5_000n })])
    told.see([aPayment({ state: 'confirmed', version: 2 })])
    expect(told.state()).toMatchObject({ status: 'paid', paidLate: false })
  })

  it('expiring with a part opens the inbox entry', () => {
    const told = storyIn('partial')
    expect(told.apply({ type: 'deadline_reached' }, [], DEADLINE)).toEqual(['invoice.expired', '+partial'])
  })
})

describe('tolerances', () => {
  const lock = aLock({ policy: { ...aLock().policy, toleranceBase: 1_000n, overToleranceBase: 2_000n } })

  // Guarantee: nobody is credited as paid below due minus tolerance.
  it('accepts what is missing up to the bound and says so', () => {
    const told = story(lock)
    told.see([aPayment({ amountBase: DUE - 1_000n, state: 'confirmed' })])
    expect(told.state()).toMatchObject({ status: 'paid', underpaidAccepted: true })
    const short = story(lock)
    short.see([aPayment({ amountBase: DUE - 1_001n, state: 'confirmed' })])
    expect(short.state().status).toBe('partial')
  })

  it('forgives excess up to the bound', () => {
    const told = story(lock)
    told.see([aPayment({ amountBase: DUE + 2_000n, state: 'confirmed' })])
    expect(told.state().status).toBe('paid')
    told.see([aPayment({ payment: 'x', amountBase: 1_000n, state: 'confirmed' })])
    expect(told.state().status).toBe('overpaid')
  })
})
