import { describe, expect, it } from 'vitest'
import { restBase } from './decide.ts'
import type { InvoiceEvent } from './invoice-event.ts'
import { payableBase } from './quote-window.ts'
import { requestedBase, totals } from './totals.ts'
import {
  anotherPaymentMethod,
  aPayment,
  aPaymentMethod,
  aQuote,
  DUE,
  MINUTE,
  renewal,
  type Story,
  story,
  T0,
} from './transition-story.fixture.ts'

const DAY = 24 * 60 * MINUTE
/** The quote ends after 20 minutes, the grace after 80, the invoice after 30 days. */
const thirtyDays = { expiresAt: T0 + 30 * DAY }
const QUOTE_END = T0 + 20 * MINUTE
const WITHIN = T0 + 15 * MINUTE
const GRACE = QUOTE_END + 60 * MINUTE
const BEYOND = GRACE + 1
const LATE = T0 + 30 * DAY + 30 * MINUTE

const share = (bps: bigint): bigint => (DUE * bps) / 10_000n
const NONE = 0n
const SMALL = share(499n)
const ENOUGH = share(500n)

/** An invoice with a deposit (unless it is nothing) seen in the quote, and then the rest. */
function restAfter(deposit: bigint, rest: { readonly firstSeenAt: number; readonly rateSeen: string | null }): Story {
  const run = story(aPaymentMethod(), thirtyDays)
  if (deposit > 0n) run.see([aPayment({ payment: 'deposit', amountBase: deposit, state: 'confirmed' })])
  if (rest.firstSeenAt > thirtyDays.expiresAt) run.apply({ type: 'deadline_reached' }, [], thirtyDays.expiresAt)
  run.see([aPayment({ payment: 'rest', amountBase: DUE - deposit, state: 'confirmed', ...rest })], rest.firstSeenAt)
  return run
}

const [FLAT, AT_BOUND, BELOW, CRASH] = ['1.00', '0.98', '0.979999', '0.60']

describe('the rest of a price, by deposit × time × drift', () => {
  it.each([
    ['no deposit, within the quote, whatever the market', NONE, WITHIN, null, 'paid'],
    ['a small deposit, within the quote', SMALL, WITHIN, null, 'paid'],
    ['a deposit, within the quote', ENOUGH, WITHIN, null, 'paid'],
    ['no deposit, within grace and drift', NONE, GRACE, AT_BOUND, 'paid'],
    ['a small deposit, within grace and drift', SMALL, GRACE, AT_BOUND, 'paid'],
    ['a deposit, within grace and drift', ENOUGH, GRACE, AT_BOUND, 'paid'],
    ['no deposit, within grace, fallen', NONE, GRACE, BELOW, 'pending'],
    ['a small deposit, within grace, fallen', SMALL, GRACE, BELOW, 'partial'],
    ['a deposit, within grace, fallen', ENOUGH, GRACE, BELOW, 'partial'],
    ['a deposit, within grace, no rate known', ENOUGH, GRACE, null, 'partial'],
    ['no deposit, after the grace', NONE, BEYOND, FLAT, 'pending'],
    ['a small deposit, after the grace', SMALL, BEYOND, FLAT, 'partial'],
    ['a deposit, after the grace, within drift', ENOUGH, BEYOND, AT_BOUND, 'paid'],
    ['a deposit, after the grace, fallen', ENOUGH, BEYOND, BELOW, 'partial'],
    ['a deposit, after the grace, no rate known', ENOUGH, BEYOND, null, 'partial'],
    ['a small deposit, 29 days later, the coin at 60 %', DUE / 1_000n, T0 + 29 * DAY, CRASH, 'partial'],
    ['nearly everything, 29 days later, the coin at 60 %', share(9_900n), T0 + 29 * DAY, CRASH, 'partial'],
    ['nearly everything, 29 days later, the coin where it was', share(9_900n), T0 + 29 * DAY, FLAT, 'paid'],
    ['a deposit, after the invoice, within drift', ENOUGH, LATE, AT_BOUND, 'paid'],
    ['a deposit, after the invoice, fallen', ENOUGH, LATE, BELOW, 'expired'],
    ['a small deposit, after the invoice, long after the quote', SMALL, LATE, FLAT, 'expired'],
  ] as const)('%s', (_, deposit, firstSeenAt, rateSeen, expected) => {
    const run = restAfter(deposit, { firstSeenAt, rateSeen })
    expect(run.state().status).toBe(expected)
    const open = run.state().exceptions.filter(({ payment }) => payment === 'rest')
    expect(open).toHaveLength(expected === 'paid' ? 0 : 1)
    if (expected === 'partial' || expected === 'pending') {
      expect(open).toMatchObject([{ exception: 'out_of_quote' }])
      expect(totals(run.state()).receivedBase).toBe(deposit)
    }
  })

  it('small deposits add up to a claim, and a merchant may set any share', () => {
    const parts = ['a', 'b'].map((payment) => aPayment({ payment, amountBase: ENOUGH / 2n, state: 'confirmed' }))
    const run = story(aPaymentMethod(), thirtyDays)
    run.see(parts)
    const rest = aPayment({ amountBase: DUE - ENOUGH, firstSeenAt: BEYOND, rateSeen: FLAT, state: 'confirmed' })
    run.see([rest])
    expect(run.state().status).toBe('paid')
    const strict = story(aPaymentMethod({ policy: { ...aPaymentMethod().policy, depositBps: 501 } }), thirtyDays)
    strict.see(parts)
    expect(strict.see([rest])).toEqual(['+out_of_quote p1'])
  })

  // Guarantee: each later part is checked on its own; parts that count open nothing for those after them.
  it('is checked part by part', () => {
    const run = story(aPaymentMethod(), thirtyDays)
    run.see([aPayment({ payment: 'deposit', amountBase: DUE / 2n })])
    run.see([aPayment({ payment: 'b', amountBase: DUE / 4n, firstSeenAt: BEYOND, rateSeen: FLAT })])
    expect(
      run.see([aPayment({ payment: 'c', amountBase: DUE / 4n, firstSeenAt: BEYOND + 1, rateSeen: BELOW })]),
    ).toEqual(['+out_of_quote c'])
    // Without the deposit nothing holds the price for the rest.
    expect(run.see([aPayment({ payment: 'deposit', amountBase: DUE / 2n, state: 'orphaned', version: 2 })])).toEqual([
      'invoice.pending',
      '+out_of_quote b',
    ])
  })

  it('refuses dust that would complete the invoice outside of every quote', () => {
    const run = story(aPaymentMethod(), thirtyDays)
    run.see([aPayment({ amountBase: DUE - 500n, state: 'confirmed' })])
    expect(run.see([aPayment({ payment: 'd', amountBase: 500n, firstSeenAt: BEYOND, state: 'confirmed' })])).toEqual([])
    expect(run.state().status).toBe('partial')
  })
})

describe('a new price for the rest', () => {
  const second = { quotedAt: T0 + 90 * MINUTE, expiresAt: T0 + 110 * MINUTE }
  const AFTER = second.quotedAt + MINUTE
  const later = (payment: string, amountBase: bigint, change = {}) =>
    aPayment({ payment, amountBase, firstSeenAt: AFTER, state: 'confirmed', ...change })

  /** A renewal as it is prepared: the rest of a whole price, rounded up. */
  function renewed(run: Story, whole: bigint): InvoiceEvent {
    const rest = restBase(run.state(), whole) ?? whole
    const amountBase = payableBase(run.state().paymentMethods[0] ?? aPaymentMethod(), rest)
    const quote = aQuote({ ...second, amountBase, rest: { wholeBase: whole, restBase: rest } })
    return { ...renewal, quote }
  }

  function paidHalf(change = {}): Story {
    const run = story(aPaymentMethod(change), thirtyDays)
    run.see([aPayment({ amountBase: DUE / 2n, state: 'confirmed' })])
    return run
  }

  // Guarantee: what was paid keeps the share that it paid; the rest costs what the coin costs now.
  it('is announced to nobody, and asks for the unpaid share only', () => {
    const run = paidHalf()
    const { eventSeq, partialAnnouncedBase } = run.state()
    expect(run.apply(renewed(run, DUE * 2n), [], second.quotedAt)).toEqual([])
    expect(run.state()).toMatchObject({ status: 'partial', eventSeq, partialAnnouncedBase })
    expect(totals(run.state())).toMatchObject({ receivedBase: DUE / 2n, dueBase: DUE / 2n + DUE })
    run.see([later('rest', DUE - 1n)])
    expect(run.state().status).toBe('partial')
    run.see([later('unit', 1_000n)])
    expect(run.state()).toMatchObject({ status: 'overpaid', underpaidAccepted: false })
    expect(totals(run.state()).dueBase).toBe(DUE / 2n + DUE)
  })

  it.each([
    ['fallen', DUE * 3n, (DUE * 3n) / 2n],
    ['risen', DUE / 4n, DUE / 8n],
  ])('is paid exactly by what it asks for when the coin has %s', (_, whole, rest) => {
    const run = paidHalf()
    run.apply(renewed(run, whole), [], second.quotedAt)
    run.see([later('rest', rest)])
    expect(run.state()).toMatchObject({ status: 'paid', underpaidAccepted: false })
  })

  it('rounds against the payer only what it asks for: the exact rest settles, and so does the typed one', () => {
    const exact = DUE - 333_333n
    for (const [paid, status] of [
      [exact - 1n, 'partial'],
      [exact, 'paid'],
      [exact + 20n, 'paid'],
      [666_700n, 'paid'],
      [exact + 99n, 'paid'],
      [exact + 100n, 'overpaid'],
    ] as const) {
      const run = story(aPaymentMethod({ policy: { ...aPaymentMethod().policy, unitBase: 100n } }), thirtyDays)
      run.see([aPayment({ amountBase: 333_333n, state: 'confirmed' })])
      run.apply(renewed(run, DUE), [], second.quotedAt)
      expect(totals(run.state()).dueBase).toBe(333_333n + 666_700n)
      expect(requestedBase(run.state(), second.quotedAt)).toBe(666_700n)
      run.see([later('rest', paid)])
      expect(run.state(), `${paid}`).toMatchObject({ status, underpaidAccepted: false })
    }
  })

  it('settles nothing by itself: the tolerance is a share of the price too', () => {
    const policy = { ...aPaymentMethod().policy, toleranceBase: 10_000n }
    for (const whole of [1n, 3n, 7n, DUE / 3n, DUE * 3n, DUE * 1_000n + 1n]) {
      const run = story(aPaymentMethod({ policy }), thirtyDays)
      run.see([aPayment({ amountBase: DUE - 10_001n, state: 'confirmed' })])
      expect(run.apply(renewed(run, whole), [], second.quotedAt)).toEqual([])
      expect(run.see([aPayment({ amountBase: DUE - 10_001n, state: 'confirmed', version: 2 })])).toEqual([])
      expect(run.state().status).toBe('partial')
    }
  })

  it('holds when the payment before it vanishes: then the whole price is due at the new rate', () => {
    const run = paidHalf()
    run.apply(renewed(run, DUE * 2n), [], second.quotedAt)
    run.see([aPayment({ amountBase: DUE / 2n, state: 'orphaned', version: 2 })])
    expect(run.state().status).toBe('pending')
    expect(totals(run.state()).dueBase).toBe(DUE * 2n)
    run.see([later('rest', DUE)])
    expect(run.state().status).toBe('partial')
    run.see([aPayment({ amountBase: DUE / 2n, state: 'confirmed', version: 3 })])
    expect(run.state().status).toBe('paid')
  })

  it('is refused when it was prepared for another rest, after twenty quotes, and from the end of the invoice on', () => {
    const run = paidHalf()
    const stale = renewed(run, DUE * 2n)
    expect(run.apply(stale, [aPayment({ payment: 'x', amountBase: DUE / 4n })])).toEqual([
      'refused payment_methods_changed',
    ])
    const whole = { ...renewal, quote: aQuote(second) }
    expect(paidHalf().apply(whole)).toEqual(['refused payment_methods_changed'])
    expect(story().apply(stale)).toEqual(['refused payment_methods_changed'])
    const many = paidHalf()
    for (let count = 2; count <= 20; count += 1) expect(many.apply(renewed(many, DUE))).toEqual([])
    expect(many.apply(renewed(many, DUE))).toEqual(['refused too_many_quotes'])
    const over = paidHalf()
    expect(over.apply(renewed(over, DUE), [], thirtyDays.expiresAt)).toEqual(['refused no_open_price'])
  })

  it('confirms each part at its own price: unconfirmed money of a dear quote is not replaced by cheap money', () => {
    const run = story(aPaymentMethod(), thirtyDays)
    run.see([aPayment({ amountBase: DUE / 2n })])
    run.apply(renewed(run, DUE * 2n), [], second.quotedAt)
    // The rest and a quarter more: of the confirmed money, 1,250,000 of 2,000,000 pay 62.5 %.
    run.see([later('rest', DUE + DUE / 4n)])
    expect(run.state().status).toBe('confirming')
    run.see([aPayment({ amountBase: DUE / 2n, state: 'confirmed', version: 2 })])
    expect(run.state().status).toBe('overpaid')
  })

  it('lets an operator accept what is short, and says so', () => {
    const run = paidHalf()
    run.apply(renewed(run, DUE * 2n), [], second.quotedAt)
    run.see([later('rest', DUE - 1n)])
    run.apply({ type: 'funds_accepted', payments: [] })
    expect(run.state()).toMatchObject({ status: 'paid', underpaidAccepted: true })
  })

  it('marks only what came after the end as late', () => {
    const run = story(aPaymentMethod(), { expiresAt: T0 + 100 * MINUTE })
    run.see([aPayment({ amountBase: DUE / 2n, state: 'confirmed' })])
    run.apply(renewed(run, DUE * 2n), [], second.quotedAt)
    run.apply({ type: 'deadline_reached' }, [], T0 + 100 * MINUTE)
    run.see([later('rest', DUE, { firstSeenAt: T0 + 101 * MINUTE, rateSeen: FLAT })])
    expect(run.state()).toMatchObject({ status: 'paid', paidLate: true })
  })
})

describe('the price of a coin on several networks', () => {
  const base = anotherPaymentMethod({ asset: 'usdt_bsc', network: 'bsc', symbol: 'USDT', from: T0 + MINUTE })
  const next = aQuote({
    quotedAt: T0 + 14 * MINUTE,
    expiresAt: T0 + 34 * MINUTE,
    amountBase: DUE * 2n,
    fiatPerAsset: '0.50',
  })

  const onBase = { ...renewal, asset: base.asset, matchKey: base.matchKey, claim: base.claim, quote: next }

  // Guarantee: switching networks collects no prices.
  it('is one: a quote at another price is refused while one is open', () => {
    const run = story(aPaymentMethod(), thirtyDays)
    const other = aQuote({ quotedAt: T0 + MINUTE, fiatPerAsset: '1.05' })
    expect(run.apply({ type: 'asset_chosen', paymentMethod: { ...base, quotes: [other] } }, [], T0 + MINUTE)).toEqual([
      'refused payment_methods_changed',
    ])
    expect(run.apply({ type: 'asset_chosen', paymentMethod: base }, [], T0 + MINUTE)).toEqual(['invoice.pending'])
    expect(run.apply({ type: 'asset_chosen', paymentMethod: { ...base, quotes: [other] } }, [], QUOTE_END)).toEqual([
      'invoice.pending',
    ])
  })

  it('ends on every network when a newer one is given on one of them', () => {
    const run = story(aPaymentMethod(), thirtyDays)
    run.apply({ type: 'asset_chosen', paymentMethod: base }, [], T0 + MINUTE)
    run.apply(onBase, [], T0 + 14 * MINUTE)
    const back = { type: 'payment_method_resumed', asset: 'usdt_ethereum', matchKey: 'a1' } as const
    expect(run.apply(back, [], WITHIN)).toEqual(['refused no_open_price'])
    // Money on the network that the payer left has the old price until the new one began, and then within grace and drift.
    const before = aPayment({ firstSeenAt: T0 + 14 * MINUTE, state: 'confirmed' })
    expect(story(run.state().paymentMethods[0], thirtyDays).see([before]).at(-1)).toBe('invoice.paid')
    expect(run.see([aPayment({ firstSeenAt: WITHIN, rateSeen: CRASH })])).toEqual(['+wrong_asset p1'])
    expect(run.see([aPayment({ payment: 'ok', firstSeenAt: WITHIN, rateSeen: FLAT })])).toContain('invoice.confirming')
  })

  it('comes back with the newest price', () => {
    const run = story(aPaymentMethod(), thirtyDays)
    run.apply({ type: 'asset_chosen', paymentMethod: base }, [], T0 + MINUTE)
    run.apply(onBase, [], T0 + 14 * MINUTE)
    const again = { type: 'asset_chosen', paymentMethod: aPaymentMethod({ quotes: [next] }) } as const
    expect(run.apply(again, [], WITHIN)).toEqual(['invoice.pending'])
    run.see([aPayment({ firstSeenAt: WITHIN, state: 'confirmed' })])
    expect(run.state().status).toBe('partial')
  })
})
