import { describe, expect, it } from 'vitest'
import type { RefundClaim } from '../payment/refundable.ts'
import type { InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import type { InvoiceState } from './model.ts'
import { requestedBase } from './totals.ts'
import { transition } from './transition.ts'
import {
  aPayment,
  aPaymentMethod,
  aQuote,
  DEADLINE,
  DUE,
  effectName,
  MINUTE,
  story,
  storyIn,
  T0,
} from './transition-story.fixture.ts'

const USDT = 'usdt_ethereum' as const
const USDC = 'usdc_ethereum' as const
const refund = (amountBase: bigint, change: Partial<RefundClaim> = {}): RefundClaim => ({
  ...{ asset: USDT, status: 'requested', amountBase, createdAt: T0 },
  ...change,
})
const confirmed = (change: Partial<PaymentObservation> = {}) => aPayment({ state: 'confirmed', version: 2, ...change })

function decide(
  state: InvoiceState,
  observations: readonly PaymentObservation[],
  refunds: readonly RefundClaim[],
  event: InvoiceEvent = { type: 'payments_changed' },
) {
  const result = transition(state, { observations, event, at: DEADLINE + 1, refunds })
  const effects = result.outcome === 'changed' ? result.effects.map(effectName) : []
  return { state: result.outcome === 'refused' ? state : result.state, effects, result }
}

describe('refunds that confirmed money does not cover', () => {
  // Guards money: a person must hear of it, once, and the shop's events stay as they are.
  it('open one exception, which closes when they are covered again', () => {
    const paid = decide(storyIn('expired').state(), [confirmed()], [refund(DUE)])
    expect(paid.effects).not.toContain('+refund_uncovered')
    const gone = confirmed({ state: 'orphaned', version: 3 })
    const open = decide(paid.state, [gone], [refund(DUE)])
    expect(open.effects.filter((effect) => effect.includes('refund'))).toEqual(['+refund_uncovered'])
    expect(decide(open.state, [gone], [refund(DUE)]).result.outcome).toBe('unchanged')
    expect(decide(open.state, [gone], [refund(DUE, { status: 'sent' })]).result.outcome).toBe('unchanged')
    expect(decide(open.state, [gone], [refund(DUE, { status: 'withdrawn' })]).effects).toEqual(['-refund_uncovered'])
    const seenAgain = decide(open.state, [confirmed({ state: 'detected', version: 4 })], [refund(DUE)])
    expect(seenAgain.effects).not.toContain('-refund_uncovered')
    const returned = decide(seenAgain.state, [confirmed({ version: 5 })], [refund(DUE)])
    expect(returned.effects).toContain('-refund_uncovered')
  })
})

/** Payments and refunds of one invoice, a step at a time; each step has all refunds that there are. */
function ordered(first: InvoiceState = story(aPaymentMethod()).state()) {
  let state = first
  const known = new Map<string, PaymentObservation>()
  return {
    state: () => state,
    apply: (event: InvoiceEvent, at: number) => {
      const result = transition(state, { observations: [...known.values()], event, at })
      if (result.outcome === 'changed') state = result.state
    },
    see: (
      payments: readonly PaymentObservation[],
      refunds: readonly RefundClaim[],
      at: number = state.updatedAt + 1,
    ) => {
      for (const one of payments) known.set(one.payment, one)
      const result = transition(state, { observations: [...known.values()], event: changed, at, refunds })
      if (result.outcome === 'changed') state = result.state
      return result.outcome === 'changed' ? result.effects.map(effectName) : []
    },
  }
}
const changed: InvoiceEvent = { type: 'payments_changed' }

describe('money that refunds claim pays nothing', () => {
  const half = (payment: string, change: Partial<PaymentObservation> = {}) =>
    confirmed({ payment, amountBase: DUE / 2n, ...change })

  // Guards money: a payer who is refunded half and then pays the other half has paid half.
  it.each([
    ['requested', 'sent'],
    ['sent', 'sent'],
  ] as const)('a refund of a part that is %s: the invoice waits for the price again', (first, then) => {
    const run = ordered()
    run.see([half('a')], [])
    expect(requestedBase(run.state(), T0)).toBe(DUE / 2n)
    expect(run.see([], [refund(DUE / 2n, { status: first })])).toEqual([])
    expect(run.state().status).toBe('partial')
    expect(requestedBase(run.state(), T0)).toBe(DUE)
    const second = run.see([half('b')], [refund(DUE / 2n, { status: then })])
    expect(second).toEqual(['payment.detected b', 'invoice.partial', 'payment.confirmed b'])
    expect(requestedBase(run.state(), T0)).toBe(DUE / 2n)
    // What the page requests pays it, and is not too much.
    expect(run.see([half('c')], [refund(DUE / 2n, { status: then })])).toContain('invoice.paid')
    expect(run.state().underpaidAccepted).toBe(false)
  })

  it('also after the deadline, within the time for late payments', () => {
    const run = ordered()
    run.see([half('a')], [])
    run.apply({ type: 'deadline_reached' }, DEADLINE)
    run.see([], [refund(DUE / 2n, { status: 'sent' })])
    const late = run.see([half('b', { firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' })], [refund(DUE / 2n)])
    expect(late).not.toContain('invoice.paid')
    expect(run.state()).toMatchObject({ status: 'expired' })
    expect(late).toContain('+late b')
  })

  it('a refund while the rest is not confirmed stops the payment; its withdrawal lets it go on', () => {
    const run = ordered()
    run.see([half('a'), half('b', { state: 'detected', version: 1 })], [])
    expect(run.state().status).toBe('confirming')
    expect(run.see([], [refund(DUE / 2n)])).toEqual(['invoice.partial'])
    expect(run.see([half('b')], [refund(DUE / 2n)])).toEqual(['payment.confirmed b'])
    expect(run.see([], [refund(DUE / 2n, { status: 'withdrawn' })])).toEqual(['invoice.paid'])
  })

  it('what goes back after the invoice was paid changes nothing', () => {
    const run = ordered()
    run.see([confirmed()], [])
    expect(run.see([], [refund(DUE, { status: 'sent' })])).toEqual([])
    expect(run.see([half('b')], [refund(DUE, { status: 'sent' })])).toContain('invoice.overpaid')
  })

  it('a refund that is withdrawn after the invoice was paid beside it leaves too much', () => {
    const run = ordered()
    run.see([half('a')], [])
    run.see([], [refund(DUE / 2n)])
    expect(run.see([confirmed()], [refund(DUE / 2n)])).toContain('invoice.paid')
    expect(run.see([], [refund(DUE / 2n, { status: 'withdrawn' })])).toEqual(['invoice.overpaid', '+over'])
  })

  it('refunds take money first that pays nothing', () => {
    const life = { expiresAt: DEADLINE + 60 * MINUTE }
    const ended = aPaymentMethod({ quotes: [aQuote({ expiresAt: DEADLINE - MINUTE })] })
    const run = ordered(story(ended, life).state())
    const priceless = half('x', { firstSeenAt: DEADLINE - 1, rateSeen: '0.5' })
    run.see([half('a'), priceless], [])
    run.see([], [refund(DUE / 2n, { status: 'sent' })])
    expect(run.see([half('b')], [refund(DUE / 2n, { status: 'sent' })])).toContain('invoice.paid')
  })

  // Guarantee: dust that goes back, and late money without a row, keep no payer waiting who paid the price.
  it('refunds take money first that has no row', () => {
    const dust = confirmed({ payment: 'd', amountBase: DUE / 2_000n })
    const run = ordered()
    run.see([dust], [])
    run.see([], [refund(DUE / 2_000n, { status: 'sent' })])
    expect(requestedBase(run.state(), T0)).toBe(DUE)
    expect(run.see([confirmed()], [refund(DUE / 2_000n, { status: 'sent' })])).toContain('invoice.paid')
    // One base unit more is of the price.
    const more = ordered()
    more.see([dust, half('a')], [])
    more.see([], [refund(DUE / 2_000n + 1n)])
    expect(requestedBase(more.state(), T0)).toBe(DUE / 2n + 1n)
    const crowd = ordered()
    const late = Array.from({ length: 101 }, (_, index) => half(`p${index}`, { firstSeenAt: DEADLINE + 300 * MINUTE }))
    crowd.see([half('a')], [])
    crowd.apply({ type: 'deadline_reached' }, DEADLINE)
    crowd.see(late, [])
    crowd.see([], [refund((DUE / 2n) * 101n, { status: 'sent' })])
    expect(crowd.state().claimedBase ?? 0n).toBe(0n)
  })

  it('at several quotes the payer is asked for what the rest costs now, and sending that pays', () => {
    const cheap = aQuote({ amountBase: DUE * 2n, quotedAt: T0 + 5 * MINUTE })
    const run = ordered(story(aPaymentMethod({ quotes: [aQuote(), cheap] })).state())
    run.see([half('a')], [])
    run.see([], [refund(DUE / 4n, { status: 'sent' })])
    const restBase = requestedBase(run.state(), T0 + 6 * MINUTE)
    expect(restBase).toBe((DUE * 3n) / 2n)
    const rest = confirmed({ payment: 'r', amountBase: restBase, firstSeenAt: T0 + 6 * MINUTE })
    expect(run.see([rest], [refund(DUE / 4n, { status: 'sent' })])).toContain('invoice.paid')
  })
})

describe('an exception about money that was sent back', () => {
  const LATE = DEADLINE + 300 * MINUTE
  const late = (payment: string, amountBase: bigint, change: Partial<PaymentObservation> = {}) =>
    confirmed({ payment, amountBase, firstSeenAt: LATE, rateSeen: '1.00', ...change })
  const back = (amountBase: bigint, createdAt: number, change: Partial<RefundClaim> = {}) =>
    refund(amountBase, { status: 'sent', createdAt, ...change })
  /** Names of the open exceptions, in order. */
  const open = (state: InvoiceState) =>
    state.exceptions.map(({ exception, payment }) => `${exception} ${payment ?? ''}`.trim())
  const expired = (...before: readonly PaymentObservation[]) => {
    const run = ordered()
    run.see(before, [])
    run.apply({ type: 'deadline_reached' }, DEADLINE)
    return run
  }

  // Guarantee: nobody has to reject what went back, and nothing that is still there leaves the inbox.
  it.each([
    ['late', 'expired', late('p', DUE / 2n)],
    ['wrong_asset', 'pending', confirmed({ payment: 'p', amountBase: DUE / 2n, asset: USDC })],
    [
      'wrong_network',
      'pending',
      confirmed({ payment: 'p', amountBase: DUE / 2n, network: 'base', asset: 'usdc_base' }),
    ],
    ['unmatched', 'pending', confirmed({ payment: 'p', amountBase: DUE / 2n, matchKey: 'ff' })],
    ['cancelled_paid', 'cancelled', late('p', DUE / 2n)],
    ['late', 'paid', late('p', DUE / 2n)],
  ] as const)('closes: %s on an invoice that is %s', (kind, status, money) => {
    const run = ordered(storyIn(status).state())
    if (status === 'paid') run.see([confirmed()], [])
    const asset = money.asset ?? USDT
    expect(run.see([money], [], LATE + 1)).toContain(`+${kind} p`)
    const part = (more: Partial<RefundClaim>) => back(DUE / 2n, LATE + 2, { asset, ...more })
    expect(run.see([], [part({ amountBase: DUE / 2n - 1n })], LATE + 3)).toEqual([])
    expect(run.see([], [part({ status: 'addressed' })], LATE + 3)).toEqual([])
    expect(run.see([], [part({})], LATE + 4)).toEqual([`-${kind} p`])
    expect(run.see([], [part({})], LATE + 5)).toEqual([])
    const gone = { ...money, state: 'orphaned' as const, version: 3 }
    const uncovered = status === 'paid' ? [] : ['+refund_uncovered']
    expect(run.see([gone], [part({})], LATE + 6)).toEqual(uncovered)
    // The money returns to a refund that was sent: there is still nothing to decide.
    expect(run.see([{ ...gone, state: 'detected', version: 4 }], [part({})], LATE + 7)).not.toContain(`+${kind} p`)
    run.see([{ ...gone, state: 'confirmed', version: 5 }], [part({})], LATE + 8)
    expect(open(run.state())).toEqual([])
  })

  it('closes: partial, once all of it went back, and opens for money in time that is confirmed later', () => {
    const half = confirmed({ payment: 'h', amountBase: DUE / 4n })
    const run = expired(half)
    expect(open(run.state())).toEqual(['partial'])
    expect(run.see([], [back(DUE / 4n - 1n, DEADLINE + 1)])).toEqual([])
    expect(run.see([], [back(DUE / 4n, DEADLINE + 1)])).toEqual(['-partial'])
    const more = aPayment({ payment: 'm', amountBase: DUE / 4n, firstSeenAt: DEADLINE - 1 })
    expect(run.see([more], [back(DUE / 4n, DEADLINE + 1)])).toContain('+partial')
    const both = [back(DUE / 4n, DEADLINE + 1), back(DUE / 4n, DEADLINE + 10)]
    expect(run.see([{ ...more, state: 'confirmed', version: 2 }], both, DEADLINE + 9)).toContain('-partial')
  })

  it('closes: over, once what is above the price went back, and opens for a further payment', () => {
    const run = ordered()
    const more = (payment: string, amountBase: bigint) =>
      confirmed({ payment, amountBase, firstSeenAt: T0 + 2 * MINUTE })
    expect(run.see([confirmed({ amountBase: DUE + 5_000n })], [])).toContain('+over')
    expect(run.see([], [back(4_999n, T0 + 3 * MINUTE)])).toEqual([])
    const first = back(5_000n, T0 + 3 * MINUTE)
    expect(run.see([], [first])).toEqual(['-over'])
    expect(run.see([more('m', 7_000n)], [first], T0 + 5 * MINUTE)).toEqual(expect.arrayContaining(['+over', '+over m']))
    expect(run.see([], [first, back(7_000n, T0 + 6 * MINUTE)], T0 + 7 * MINUTE)).toEqual(['-over', '-over m'])
  })

  it('closes only together with the others where a refund took a part of their money', () => {
    const run = expired()
    run.see([late('a', DUE / 4n), late('b', DUE / 8n)], [], LATE + 1)
    const first = back(DUE / 4n, LATE + 2)
    expect(run.see([], [first], LATE + 3)).toEqual([])
    expect(run.see([], [first, back(DUE / 8n, LATE + 4)], LATE + 5)).toEqual(['-late a', '-late b'])
  })

  it('stays closed when a further payment comes, which has its own', () => {
    const run = expired()
    run.see([late('a', DUE / 4n)], [], LATE + 1)
    const first = back(DUE / 4n, LATE + 2)
    expect(run.see([], [first], LATE + 3)).toEqual(['-late a'])
    const further = late('b', DUE / 8n, { firstSeenAt: LATE + 4 })
    expect(run.see([further], [first], LATE + 5)).toContain('+late b')
    expect(open(run.state())).toEqual(['late b'])
    // What a refund of an earlier payment took beyond it is no part of a later one.
    expect(run.see([], [first, back(DUE / 8n - 1n, LATE + 6)], LATE + 7)).toEqual([])
    expect(run.see([], [first, back(DUE / 8n - 1n, LATE + 6), back(1n, LATE + 8)], LATE + 9)).toEqual(['-late b'])
  })

  it('stays open where a refund of the order was larger, and only a part of what came later went back', () => {
    const run = ordered()
    run.see([confirmed()], [])
    const order = back(DUE, T0 + 10 * MINUTE)
    run.see([late('a', DUE / 4n)], [order], LATE + 1)
    expect(run.see([], [order, back(1n, LATE + 2)], LATE + 3)).toEqual([])
    expect(run.see([], [order, back(1n, LATE + 2), back(DUE / 4n - 1n, LATE + 4)], LATE + 5)).toEqual(['-late a'])
  })

  it('stays open where there may be money without a row, of which a refund may be', () => {
    const run = expired()
    const many = Array.from({ length: 20 }, (_, index) => late(`p${index}`, DUE / 100n))
    run.see(many, [], LATE + 1)
    expect(run.see([], [back(DUE / 5n, LATE + 2)], LATE + 3)).toEqual([])
  })
})

describe('accepting money', () => {
  const accept = (payment: string, valueBase: bigint): InvoiceEvent => ({
    ...{ type: 'funds_accepted', by: 'user:a@example.com' },
    payments: [{ payment, valueBase }],
  })
  const half = confirmed({ payment: 'h', amountBase: DUE / 2n })
  const wrong = confirmed({ payment: 'w', asset: USDC })

  it('is refused where refunds claim it and less than the amount due is left', () => {
    const { state } = decide(storyIn('expired').state(), [half], [])
    const all: InvoiceEvent = { type: 'funds_accepted', payments: [], by: 'user:a@example.com' }
    const of = (refunds: readonly RefundClaim[]) => decide(state, [half], refunds, all).result
    expect(of([refund(1n)])).toEqual({ outcome: 'refused', reason: 'refunded_funds' })
    expect(of([refund(1n, { status: 'sent' })])).toEqual({ outcome: 'refused', reason: 'refunded_funds' })
    expect(of([refund(1n, { status: 'withdrawn' })]).outcome).toBe('changed')
    expect(of([refund(1n, { asset: USDC })])).toMatchObject({ outcome: 'changed', state: { status: 'paid' } })
  })

  it('is possible where refunds take only what is above the amount due', () => {
    const more = confirmed({ payment: 'm', amountBase: DUE + 7n, asset: USDT, firstSeenAt: DEADLINE + 1 })
    const { state } = decide(storyIn('expired').state(), [more], [])
    expect(decide(state, [more], [refund(7n)], accept('m', DUE + 7n)).result.outcome).toBe('changed')
    expect(decide(state, [more], [refund(8n)], accept('m', DUE + 7n)).result).toMatchObject({ outcome: 'refused' })
  })

  // Guarantee: money that came at no price and went back does not keep the merchant from deciding about the rest, also when it was sent.
  it('is possible where refunds take only money that settles nothing', () => {
    const priceless = confirmed({ payment: 'x', amountBase: DUE / 4n, firstSeenAt: DEADLINE - 1, rateSeen: '0.5' })
    const life = { expiresAt: DEADLINE + 60 * MINUTE }
    const ended = aPaymentMethod({ quotes: [aQuote({ expiresAt: DEADLINE - MINUTE })] })
    const { state } = decide(story(ended, life).state(), [half, priceless], [])
    expect(state).toMatchObject({ status: 'partial', exceptions: [{ exception: 'out_of_quote', payment: 'x' }] })
    const of = (amountBase: bigint, event: InvoiceEvent) =>
      decide(state, [half, priceless], [refund(amountBase, { status: 'sent' })], event).result
    expect(of(DUE / 4n, { type: 'funds_accepted', payments: [] })).toMatchObject({ outcome: 'changed' })
    expect(of(DUE / 4n, accept('h', DUE / 2n))).toMatchObject({ outcome: 'changed' })
    // One base unit more is of the money that would settle it; so is the refunded payment itself.
    expect(of(DUE / 4n + 1n, { type: 'funds_accepted', payments: [] })).toMatchObject({ reason: 'refunded_funds' })
    expect(of(DUE / 4n, accept('x', DUE / 4n))).toMatchObject({ reason: 'refunded_funds' })
  })

  // Guards money: a shop that refunds what is above the price must not be told of money that went back before.
  it('leaves nothing above the price where the rest went back', () => {
    const [one, other] = ['a', 'b'].map((payment) => confirmed({ payment, firstSeenAt: DEADLINE + 300 * MINUTE }))
    const late = [one ?? half, other ?? half]
    const { state } = decide(storyIn('expired').state(), late, [])
    const all: InvoiceEvent = { type: 'funds_accepted', payments: [] }
    expect(decide(state, late, [refund(DUE, { status: 'sent' })], all).state).toMatchObject({
      ...{ status: 'paid', claimedBase: DUE },
    })
    expect(decide(state, late, [refund(DUE / 2n, { status: 'sent' })], all).state).toMatchObject({ status: 'overpaid' })
  })

  it('twice in another coin is refused where refunds leave only one of both', () => {
    const second = confirmed({ payment: 'v', asset: USDC })
    const { state } = decide(storyIn('expired').state(), [wrong, second], [])
    const both = ['w', 'v'].map((payment) => ({ payment, valueBase: DUE / 2n }))
    const of = (payments: typeof both) =>
      decide(state, [wrong, second], [refund(DUE, { asset: USDC })], { type: 'funds_accepted', payments }).result
    expect(of(both)).toEqual({ outcome: 'refused', reason: 'refunded_funds' })
    expect(of(both.slice(0, 1)).outcome).toBe('changed')
  })

  it('in another coin is refused where refunds in that coin claim part of it', () => {
    const { state } = decide(storyIn('expired').state(), [wrong], [])
    const of = (refunds: readonly RefundClaim[]) => decide(state, [wrong], refunds, accept('w', DUE)).result
    expect(of([refund(1n, { asset: USDC })])).toEqual({ outcome: 'refused', reason: 'refunded_funds' })
    expect(of([refund(1n, { asset: USDC, status: 'withdrawn' })]).outcome).toBe('changed')
  })
})
