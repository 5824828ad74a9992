import { describe, expect, it } from 'vitest'
import { totals } from './totals.ts'
import { StaleObservations, transition } from './transition.ts'
import {
  aLock,
  anotherLock,
  aPayment,
  aQuote,
  DEADLINE,
  DUE,
  MINUTE,
  story,
  storyIn,
  T0,
} from './transition-fixtures.ts'

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

describe('foreign money', () => {
  // Guarantee: another token or network never pays an invoice.
  it.each([
    ['another asset', { asset: 'usdc_ethereum' as const }, 'wrong_asset'],
    ['another network', { asset: 'usdc_base' as const, network: 'base' as const }, 'wrong_network'],
    ['an unknown address', { matchKey: 'ff' }, 'unmatched'],
  ])('%s opens one inbox entry and announces nothing', (_, change, kind) => {
    const told = story()
    expect(told.see([aPayment({ ...change, state: 'confirmed' })])).toEqual([`+${kind} p1`])
    expect(told.see([aPayment({ ...change, state: 'confirmed', version: 2 })])).toEqual([])
    expect(told.state()).toMatchObject({ status: 'pending', ledger: [{ counted: false, uncountedReason: kind }] })
    expect(told.see([aPayment({ ...change, state: 'orphaned', version: 3 })])).toEqual([`-${kind} p1`])
  })

  it('on a cancelled invoice opens an entry per payment, with payment events only', () => {
    expect(storyIn('cancelled').see([aPayment({ state: 'confirmed' })])).toEqual([
      'payment.detected p1',
      'payment.confirmed p1',
      '+cancelled_paid p1',
    ])
  })

  it('the first lock that receives funds becomes the lock; funds on others are kept out', () => {
    const told = story()
    expect(told.apply({ type: 'asset_locked', lock: anotherLock({ from: T0 + MINUTE }) }, [], T0 + MINUTE)).toEqual([
      'invoice.pending',
    ])
    const old = aPayment({ firstSeenAt: T0 + 2 * MINUTE, amountBase: DUE / 2n })
    const other = aPayment({ payment: 'o', asset: 'usdc_ethereum', matchKey: 'b2', firstSeenAt: T0 + 3 * MINUTE })
    expect(told.see([old])).toEqual(['payment.detected p1', 'invoice.partial'])
    expect(told.state().locks.map((lock) => lock.to === null)).toEqual([true, false])
    expect(told.see([other])).toEqual(['+wrong_asset o'])
    expect(told.see([{ ...old, state: 'orphaned', version: 2 }])).toEqual([
      'payment.detected o',
      'invoice.confirming',
      '-wrong_asset o',
    ])
    expect(told.see([{ ...old, version: 3 }])).toEqual(['+wrong_asset p1'])
  })
})

describe('money of a lock that the payer left', () => {
  // Guarantee: sums never mix two assets. Found by the property tests.
  it('stays out when it returns after the invoice was cancelled under another lock', () => {
    const told = story()
    told.see([aPayment({ state: 'replaced' })])
    told.apply({ type: 'asset_locked', lock: anotherLock() })
    told.apply({ type: 'cancel_requested' })
    expect(told.see([aPayment({ version: 2 })])).toEqual(['+wrong_asset p1'])
    expect(totals(told.state()).receivedBase).toBe(0n)
  })
})

describe('quotes', () => {
  const longLife = { expiresAt: T0 + 600 * MINUTE }
  const second = aQuote({ lockedAt: T0 + 30 * MINUTE, expiresAt: T0 + 50 * MINUTE, amountBase: DUE * 2n })
  const renew = { type: 'quote_renewed', quote: second, claim: 'test:evm:a1' } as const

  it('the quote that held at the earliest payment is the price for all', () => {
    const told = story(aLock(), longLife)
    told.apply(renew, [], T0 + 30 * MINUTE)
    told.see([aPayment({ amountBase: DUE, state: 'confirmed', firstSeenAt: T0 + 40 * MINUTE })])
    expect(told.state().status).toBe('partial')
    told.see([aPayment({ payment: 'early', amountBase: 5_000n })])
    expect(totals(told.state()).dueBase).toBe(DUE)
    expect(told.state().status).toBe('paid')
  })

  it('a payment between quotes counts only within grace and drift of the last end', () => {
    const late = { firstSeenAt: DEADLINE + 5 * MINUTE, state: 'confirmed' as const }
    const fine = story(aLock(), longLife)
    fine.see([aPayment({ ...late, rateSeen: '0.99' })])
    expect(fine.state()).toMatchObject({ status: 'paid', paidLate: false })
    const drifted = story(aLock(), longLife)
    expect(drifted.see([aPayment({ ...late, rateSeen: '0.90' })])).toEqual(['+out_of_quote p1'])
    expect(totals(drifted.state()).receivedBase).toBe(0n)
  })

  it('a top-up needs no quote of its own, whichever of the two is told first', () => {
    const first = aPayment({ amountBase: DUE / 2n })
    const topUp = aPayment({ payment: 't', amountBase: DUE / 2n, firstSeenAt: DEADLINE + 90 * MINUTE })
    const told = story(aLock(), longLife)
    expect(told.see([topUp])).toEqual(['+out_of_quote t'])
    expect(told.see([first])).toEqual([
      'payment.detected p1',
      'payment.detected t',
      'invoice.confirming',
      '-out_of_quote t',
    ])
  })

  it('a simulated payment takes the latest quote even when it is over', () => {
    const told = story(aLock(), longLife)
    told.see([aPayment({ simulated: true, state: 'confirmed', firstSeenAt: DEADLINE + 300 * MINUTE })])
    expect(told.state().status).toBe('paid')
  })

  it('moves the deadline only of invoices that end with their quote', () => {
    const told = story(aLock(), { endsWithQuote: true, expiresAt: DEADLINE })
    told.apply({ ...renew, quote: aQuote({ expiresAt: DEADLINE + MINUTE }) })
    expect(told.state()).toMatchObject({ expiresAt: DEADLINE + MINUTE, nextActionAt: DEADLINE + MINUTE })
    const fixed = story()
    fixed.apply({ ...renew, quote: aQuote({ expiresAt: DEADLINE + MINUTE }) })
    expect(fixed.state().expiresAt).toBe(DEADLINE)
  })

  it('keeps earlier claims reserved, and ends at 20 quotes, 5 locks, the deadline or the first money', () => {
    const told = story()
    told.apply({ ...renew, claim: 'other' })
    expect(told.state().locks[0]).toMatchObject({ claim: 'other', formerClaims: ['test:evm:a1'] })
    for (let count = 2; count < 20; count += 1) expect(told.apply(renew)).toEqual(['invoice.pending'])
    expect(told.apply(renew)).toEqual(['refused too_many_quotes'])
    const switching = story()
    for (let count = 1; count < 5; count += 1) switching.apply({ type: 'asset_locked', lock: anotherLock() })
    expect(switching.apply({ type: 'asset_locked', lock: anotherLock() })).toEqual(['refused too_many_locks'])
    expect(story().apply(renew, [], DEADLINE)).toEqual(['refused not_lockable'])
    expect(story().apply(renew, [aPayment()])).toEqual(['refused not_lockable'])
  })
})

describe('an operator', () => {
  const accept = (...payments: { payment: string; valueBase: bigint }[]) =>
    ({ type: 'funds_accepted', payments }) as const

  it('accepts a confirmed part as full payment', () => {
    const told = story()
    told.see([aPayment({ amountBase: DUE / 2n, state: 'confirmed' })])
    told.apply({ type: 'deadline_reached' }, [], DEADLINE)
    expect(told.apply(accept())).toEqual(['invoice.paid', '-partial'])
    expect(told.state()).toMatchObject({ status: 'paid', underpaidAccepted: true })
  })

  it('accepts late money and another asset by its value', () => {
    const told = storyIn('expired')
    told.see([aPayment({ ...onTimeLate, rateSeen: null, state: 'confirmed', amountBase: DUE / 2n })])
    told.see([aPayment({ payment: 'f', asset: 'usdc_ethereum', amountBase: 7n, state: 'confirmed' })])
    const both = accept({ payment: 'p1', valueBase: DUE * 9n }, { payment: 'f', valueBase: DUE / 2n })
    expect(told.apply(both)).toEqual(['invoice.paid', '-wrong_asset f', '-late p1'])
    expect(told.state()).toMatchObject({ status: 'paid', paidLate: true, underpaidAccepted: false })
    expect(
      told.see([aPayment({ payment: 'f', asset: 'usdc_ethereum', amountBase: 7n, state: 'orphaned', version: 2 })]),
    ).toEqual(['+reorged f', 'mail payment_reorged f'])
  })

  it('accepts confirmed funds on a cancelled invoice', () => {
    const told = storyIn('cancelled')
    told.see([aPayment({ state: 'confirmed' })])
    expect(told.apply(accept())).toEqual(['invoice.paid', '-cancelled_paid p1'])
  })

  it('never accepts unconfirmed, unknown or worthless funds', () => {
    const told = story()
    told.see([aPayment({ amountBase: DUE / 2n })])
    expect(told.apply(accept())).toEqual(['refused unconfirmed_funds'])
    expect(told.apply(accept({ payment: 'p1', valueBase: 1n }))).toEqual(['refused unconfirmed_funds'])
    expect(told.apply(accept({ payment: 'nobody', valueBase: 1n }))).toEqual(['refused not_acceptable'])
    expect(told.apply(accept({ payment: 'p1', valueBase: 0n }))).toEqual(['refused not_acceptable'])
    expect(story().apply(accept())).toEqual(['refused not_acceptable'])
  })
})

describe('many and tiny payments', () => {
  const tiny = (index: number) => aPayment({ payment: `d${index}`, amountBase: 999n, state: 'confirmed' })

  it('dust is summed and never announced', () => {
    const told = story()
    expect(told.see([tiny(1)])).toEqual(['invoice.partial'])
    expect(told.see([tiny(2)])).toEqual([])
    expect(told.state()).toMatchObject({ ledger: [], others: { count: 2, seenBase: 1_998n, confirmedBase: 1_998n } })
  })

  // Guarantee: a flood of transfers can neither brick nor outgrow an invoice.
  it('beyond a hundred rows the rest is one row', () => {
    const told = story()
    const many = Array.from({ length: 150 }, (_, index) =>
      aPayment({ payment: `m${index}`, amountBase: 2_000n, state: 'confirmed' }),
    )
    const effects = told.see(many)
    expect(effects.filter((text) => text.startsWith('payment.detected'))).toHaveLength(100)
    expect(effects.at(-1)).toBe('+many_payments')
    expect(told.state()).toMatchObject({ status: 'partial', others: { count: 50, seenBase: 100_000n } })
    expect(totals(told.state()).receivedBase).toBe(300_000n)
    told.see([{ ...aPayment({ payment: 'm149', amountBase: 2_000n, state: 'orphaned' }), version: 2 }])
    expect(totals(told.state()).receivedBase).toBe(298_000n)
    told.see([aPayment({ payment: 'z', state: 'confirmed' })])
    expect(told.state().status).toBe('overpaid')
  })

  it('worthless tokens cannot crowd out real payments', () => {
    const told = story()
    told.see(Array.from({ length: 200 }, (_, index) => aPayment({ payment: `w${index}`, asset: 'usdc_ethereum' })))
    expect(told.state().ledger).toHaveLength(20)
    expect(told.see([aPayment()])).toEqual(['payment.detected p1', 'invoice.confirming'])
  })
})

describe('old reads', () => {
  it.each([
    ['an older version', [aPayment()]],
    ['a missing payment', []],
  ])('%s is refused for a new read', (_, observations) => {
    const told = storyIn('confirming')
    told.see([aPayment({ version: 2 })])
    const input = { observations, event: { type: 'payments_changed' }, at: T0 } as const
    expect(() => transition(told.state(), input)).toThrow(StaleObservations)
  })

  it('is noticed among summed payments too', () => {
    const told = story()
    const dust = aPayment({ amountBase: 5n, version: 2 })
    told.see([dust])
    const input = { observations: [{ ...dust, version: 1 }], event: { type: 'payments_changed' }, at: T0 } as const
    expect(() => transition(told.state(), input)).toThrow(StaleObservations)
    expect(() => transition(told.state(), { ...input, observations: [] })).toThrow(StaleObservations)
  })
})
