import { describe, expect, it } from 'vitest'
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

describe('foreign money', () => {
  // Guarantee: another token or network never pays an invoice.
  it.each([
    ['another asset', { asset: 'usdc_ethereum' as const }, 'wrong_asset'],
    ['another network', { asset: 'usdc_base' as const, network: 'base' as const }, 'wrong_network'],
    ['an unknown address', { matchKey: 'ff' }, 'unmatched'],
  ])('%s opens one inbox entry and announces nothing', (_, change, kind) => {
    const run = story()
    expect(run.see([aPayment({ ...change, state: 'confirmed' })])).toEqual([`+${kind} p1`])
    expect(run.see([aPayment({ ...change, state: 'confirmed', version: 2 })])).toEqual([])
    expect(run.state()).toMatchObject({ status: 'pending', ledger: [{ counted: false, uncountedReason: kind }] })
    expect(run.see([aPayment({ ...change, state: 'orphaned', version: 3 })])).toEqual([`-${kind} p1`])
  })

  it('on a cancelled invoice opens an entry per payment, with payment events only', () => {
    expect(storyIn('cancelled').see([aPayment({ state: 'confirmed' })])).toEqual([
      'payment.detected p1',
      'payment.confirmed p1',
      '+cancelled_paid p1',
    ])
  })

  it('the first lock that receives funds becomes the lock; funds on others are kept out', () => {
    const run = story()
    expect(
      run.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod({ from: T0 + MINUTE }) }, [], T0 + MINUTE),
    ).toEqual(['invoice.pending'])
    const old = aPayment({ firstSeenAt: T0 + 2 * MINUTE, amountBase: DUE / 2n })
    const other = aPayment({ payment: 'o', asset: 'usdc_ethereum', matchKey: 'b2', firstSeenAt: T0 + 3 * MINUTE })
    expect(run.see([old])).toEqual(['payment.detected p1', 'invoice.partial'])
    expect(run.state().paymentMethods.map((paymentMethod) => paymentMethod.to === null)).toEqual([true, false])
    expect(run.see([other])).toEqual(['+wrong_asset o'])
    expect(run.see([{ ...old, state: 'orphaned', version: 2 }])).toEqual([
      'payment.detected o',
      'invoice.confirming',
      '-wrong_asset o',
    ])
    expect(run.see([{ ...old, version: 3 }])).toEqual(['+wrong_asset p1'])
  })
})

describe('money of a lock that the payer left', () => {
  // Guarantee: sums never mix two assets. Found by the property tests.
  it('stays out when it returns after the invoice was cancelled under another lock', () => {
    const run = story()
    run.see([aPayment({ state: 'replaced' })])
    run.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod() })
    run.apply({ type: 'cancel_requested' })
    expect(run.see([aPayment({ version: 2 })])).toEqual(['+wrong_asset p1'])
    expect(totals(run.state()).receivedBase).toBe(0n)
  })
})

describe('quotes', () => {
  const longLife = { expiresAt: T0 + 600 * MINUTE }
  const second = aQuote({ quotedAt: T0 + 30 * MINUTE, expiresAt: T0 + 50 * MINUTE, amountBase: DUE * 2n })
  const renew = { ...renewal, quote: second }

  // Counterexample to "the quote of the earliest payment is the price for all": 5,000 of 1,000,000 base units made 1,000,000 of a
  // quote for 2,000,000 a payment in full.
  it('each payment pays the share of the price that it is at its own quote, whichever is reported first', () => {
    const run = story(aPaymentMethod(), longLife)
    run.apply(renew, [], T0 + 30 * MINUTE)
    run.see([aPayment({ amountBase: DUE, state: 'confirmed', firstSeenAt: T0 + 40 * MINUTE })])
    expect(run.state().status).toBe('partial')
    run.see([aPayment({ payment: 'early', amountBase: 5_000n, state: 'confirmed' })])
    // 0.5 % at the first quote, 50 % at the second: 49.5 % of the second remain.
    expect(totals(run.state())).toMatchObject({ receivedBase: DUE + 5_000n, dueBase: DUE * 2n - 5_000n })
    expect(run.state().status).toBe('partial')
    run.see([
      aPayment({ payment: 'rest', amountBase: DUE - 10_000n, state: 'confirmed', firstSeenAt: T0 + 45 * MINUTE }),
    ])
    expect(run.state()).toMatchObject({ status: 'paid', underpaidAccepted: false })
  })

  // Counterexample to "a renewal is of the active payment method": base units of USDT became the price in ETH, a thousandth of a cent.
  it('is refused on a payment method that it was not prepared for', () => {
    const run = story(aPaymentMethod(), longLife)
    run.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod() })
    expect(run.apply(renew, [], T0 + 30 * MINUTE)).toEqual(['refused payment_methods_changed'])
    expect(run.apply({ ...renew, asset: 'usdc_ethereum' }, [], T0 + 30 * MINUTE)).toEqual([
      'refused payment_methods_changed',
    ])
    expect(run.apply({ ...renew, asset: 'usdc_ethereum', matchKey: 'b2' }, [], T0 + 30 * MINUTE)).toEqual([
      'invoice.pending',
    ])
  })

  it('a payment between quotes counts only within grace and drift of the last end', () => {
    const late = { firstSeenAt: DEADLINE + 5 * MINUTE, state: 'confirmed' as const }
    const fine = story(aPaymentMethod(), longLife)
    fine.see([aPayment({ ...late, rateSeen: '0.99' })])
    expect(fine.state()).toMatchObject({ status: 'paid', paidLate: false })
    const drifted = story(aPaymentMethod(), longLife)
    expect(drifted.see([aPayment({ ...late, rateSeen: '0.90' })])).toEqual(['+out_of_quote p1'])
    expect(totals(drifted.state()).receivedBase).toBe(0n)
  })

  // Guarantee: a deposit never frees later money from the check of the price.
  it('a top-up outside of every quote needs the price of its quote, whichever of the two is reported first', () => {
    const first = aPayment({ amountBase: DUE / 2n })
    const topUp = { payment: 't', amountBase: DUE / 2n, firstSeenAt: DEADLINE + 90 * MINUTE }
    const run = story(aPaymentMethod(), longLife)
    expect(run.see([aPayment({ ...topUp, rateSeen: '0.98' })])).toEqual(['+out_of_quote t'])
    expect(run.see([first])).toEqual([
      'payment.detected p1',
      'payment.detected t',
      'invoice.confirming',
      '-out_of_quote t',
    ])
    for (const rateSeen of ['0.979999', '0.60', null]) {
      const fallen = story(aPaymentMethod(), longLife)
      fallen.see([first])
      expect(fallen.see([aPayment({ ...topUp, rateSeen })]), `${rateSeen}`).toEqual(['+out_of_quote t'])
      expect(fallen.state().status).toBe('partial')
    }
  })

  it('a simulated payment takes the latest quote even when it is over', () => {
    const run = story(aPaymentMethod(), longLife)
    run.see([aPayment({ simulated: true, state: 'confirmed', firstSeenAt: DEADLINE + 300 * MINUTE })])
    expect(run.state().status).toBe('paid')
  })

  it('moves the deadline only of invoices that end with their quote', () => {
    const run = story(aPaymentMethod(), { endsWithQuote: true, expiresAt: DEADLINE })
    run.apply({ ...renew, quote: aQuote({ expiresAt: DEADLINE + MINUTE }) })
    expect(run.state()).toMatchObject({ expiresAt: DEADLINE + MINUTE, nextActionAt: DEADLINE + MINUTE })
    const fixed = story()
    fixed.apply({ ...renew, quote: aQuote({ expiresAt: DEADLINE + MINUTE }) })
    expect(fixed.state().expiresAt).toBe(DEADLINE)
  })

  it('keeps earlier claims reserved, and ends at 20 quotes, 5 locks, the deadline or the first money', () => {
    const run = story()
    run.apply({ ...renew, claim: 'other' })
    expect(run.state().paymentMethods[0]).toMatchObject({ claim: 'other', formerClaims: ['test:evm:a1'] })
    for (let count = 2; count < 20; count += 1) expect(run.apply(renew)).toEqual(['invoice.pending'])
    expect(run.apply(renew)).toEqual(['refused too_many_quotes'])
    const switching = story()
    const assets = ['usdc_ethereum', 'eth_ethereum', 'eth_base', 'usdc_base', 'btc_bitcoin'] as const
    const outcomes = assets.map((asset) =>
      switching.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod({ asset }) }),
    )
    expect(outcomes.slice(0, 4)).toEqual(Array(4).fill(['invoice.pending']))
    expect(outcomes[4]).toEqual(['refused too_many_payment_methods'])
    expect(story().apply(renew, [], DEADLINE)).toEqual(['refused no_open_price'])
    expect(story().apply(renew, [aPayment()])).toEqual(['refused no_open_price'])
  })
})

// Guarantee: a payer without money keeps the use of a limited link no longer by choosing coins and prices again and again.
describe('an invoice whose quotes end', () => {
  const visit = { places: ['use:l:aaaa:0:0'], repeats: 0, quotesUntil: T0 + 10 * MINUTE }
  const quote = aQuote({ quotedAt: T0 + 9 * MINUTE, expiresAt: T0 + 29 * MINUTE })
  const renew = { ...renewal, quote }
  const other = { type: 'asset_chosen', paymentMethod: anotherPaymentMethod() } as const

  it('gets a quote before that time, and none from then on', () => {
    for (const event of [renew, other]) {
      const before = story(aPaymentMethod(), { visit })
      expect(before.apply(event, [], T0 + 10 * MINUTE - 1)).toEqual(['invoice.pending'])
      expect(before.apply(event, [], T0 + 10 * MINUTE)).toEqual(['refused too_many_quotes'])
      expect(before.state().visit).toEqual(visit)
    }
    expect(
      story(aPaymentMethod(), { visit: { ...visit, quotesUntil: null } }).apply(renew, [], T0 + 11 * MINUTE),
    ).toEqual(['invoice.pending'])
  })

  it('still shows a quote that holds again, and is paid in time', () => {
    const run = story(aPaymentMethod(), { visit })
    run.apply(other, [], T0 + MINUTE)
    expect(
      run.apply({ type: 'payment_method_resumed', asset: 'usdt_ethereum', matchKey: 'a1' }, [], T0 + 15 * MINUTE),
    ).toEqual(['invoice.pending'])
    run.see([aPayment({ state: 'confirmed', firstSeenAt: T0 + 16 * MINUTE })])
    expect(run.state().status).toBe('paid')
  })
})

describe('an asset that is chosen again', () => {
  const usdt = { type: 'payment_method_resumed', asset: 'usdt_ethereum', matchKey: 'a1' } as const
  const usdc = { type: 'payment_method_resumed', asset: 'usdc_ethereum', matchKey: 'b2' } as const
  const over = T0 + 15 * MINUTE
  const later = aQuote({ quotedAt: T0 + 10 * MINUTE, expiresAt: T0 + 30 * MINUTE, amountBase: DUE / 2n })
  const open = () => {
    const run = story(aPaymentMethod(), { endsWithQuote: true, expiresAt: DEADLINE })
    run.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod({ quotes: [later] }) }, [], T0 + 10 * MINUTE)
    return run
  }

  // Guarantee: nobody collects prices by switching back and forth.
  it('shows the quote it had, to the unit and the second, and takes nothing from the other one', () => {
    const run = open()
    const before = run.state().paymentMethods[0]
    expect(run.apply(usdt, [], over)).toEqual(['invoice.pending'])
    expect(run.state().paymentMethods).toHaveLength(2)
    expect(run.state().paymentMethods[0]).toEqual({ ...before, to: null })
    expect(run.state().paymentMethods[1]?.to).toBe(over)
    // What was promised in the other asset can still be paid until its own end.
    expect(run.state().expiresAt).toBe(later.expiresAt)
    expect(run.apply(usdt, [], over)).toEqual([])
  })

  it('is refused once its quote is over, its address was given back, or money came', () => {
    expect(open().apply(usdt, [], DEADLINE)).toEqual(['refused no_open_price'])
    expect(open().apply(usdt, [aPayment()], over)).toEqual(['refused no_open_price'])
    expect(story().apply(usdc)).toEqual(['refused no_open_price'])
    const hold = { kind: 'address', quarantineMs: 0, heldMs: 1, releasedAt: T0 } as const
    const returned = story(aPaymentMethod({ hold }))
    returned.apply({ type: 'asset_chosen', paymentMethod: anotherPaymentMethod() })
    expect(returned.apply(usdt)).toEqual(['refused no_open_price'])
  })

  it('goes on as the same lock with a new quote once its quote is over', () => {
    const run = open()
    const quote = aQuote({ quotedAt: DEADLINE, expiresAt: DEADLINE + 20 * MINUTE, amountBase: DUE * 2n })
    expect(
      run.apply({ type: 'asset_chosen', paymentMethod: aPaymentMethod({ quotes: [quote] }) }, [], DEADLINE),
    ).toEqual(['invoice.pending'])
    expect(run.state().paymentMethods.map(({ quotes, to }) => [quotes.length, to])).toEqual([
      [2, null],
      [1, DEADLINE],
    ])
    expect(run.state().expiresAt).toBe(quote.expiresAt)
  })

  it('is refused after a hundred announcements: every switch is a webhook', () => {
    const run = open()
    const outcomes = Array.from({ length: 200 }, (_, turn) => run.apply(turn % 2 === 0 ? usdt : usdc, [], over)[0])
    expect(outcomes.filter((one) => one === 'invoice.pending').length).toBeLessThan(100)
    expect(outcomes.at(-1)).toBe('refused too_many_payment_methods')
    expect(run.state().eventSeq).toBe(100)
  })

  it('is refused when another choice was faster', () => {
    const event = { type: 'asset_chosen', paymentMethod: anotherPaymentMethod(), methodCount: 0 } as const
    expect(story().apply(event)).toEqual(['refused payment_methods_changed'])
  })
})
