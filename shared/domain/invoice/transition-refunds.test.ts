import { describe, expect, it } from 'vitest'
import type { RefundClaim } from '../payment/refundable.ts'
import type { InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import type { InvoiceState } from './model.ts'
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
} from './transition-story.fixture.ts'

const USDT = 'usdt_ethereum' as const
const USDC = 'usdc_ethereum' as const
const refund = (amountBase: bigint, change: Partial<RefundClaim> = {}): RefundClaim => ({
  ...{ asset: USDT, status: 'requested', amountBase },
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

  it('in another coin is refused where refunds in that coin claim part of it', () => {
    const { state } = decide(storyIn('expired').state(), [wrong], [])
    const of = (refunds: readonly RefundClaim[]) => decide(state, [wrong], refunds, accept('w', DUE)).result
    expect(of([refund(1n, { asset: USDC })])).toEqual({ outcome: 'refused', reason: 'refunded_funds' })
    expect(of([refund(1n, { asset: USDC, status: 'withdrawn' })]).outcome).toBe('changed')
  })
})
