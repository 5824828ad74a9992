import { describe, expect, it } from 'vitest'
import { restBase } from './decide.ts'
import type { PaymentMethod } from './model.ts'
import { needsNewAmount, requestedBase } from './totals.ts'
import {
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

/** Payers can type hundreds of base units, and the chain lets them send 546 at least; a rest below that counts as paid. */
const policy = { ...aPaymentMethod().policy, unitBase: 100n, sendableBase: 546n, toleranceBase: 545n }
const on = (change: Partial<PaymentMethod> = {}) => aPaymentMethod({ policy, ...change })
const amountOf = (run: ReturnType<typeof story>, at = T0 + 2 * MINUTE) => requestedBase(run.state(), at)

describe('the amount asked for', () => {
  it.each([
    ['a half', DUE / 2n, DUE / 2n],
    ['a rest that nobody can type', 333_333n, 666_700n],
    ['a rest below two units', DUE - 601n, 700n],
    ['the least rest', DUE - 546n, 600n],
  ])('after %s can be typed and sent, and settles without anything to decide', (_, paid, rest) => {
    const run = story(on())
    run.see([aPayment({ payment: 'a', amountBase: paid, state: 'confirmed' })])
    expect(amountOf(run)).toBe(rest)
    run.see([aPayment({ payment: 'b', amountBase: rest, state: 'confirmed', firstSeenAt: T0 + 2 * MINUTE })])
    expect(run.state()).toMatchObject({ status: 'paid', exceptions: [], underpaidAccepted: false })
    expect(amountOf(run)).toBe(0n)
  })

  // Guarantee: nobody is asked for what the chain does not carry.
  it.each([1n, 2n, 294n, 545n])('is nothing when %s are short: the invoice is paid, and says so', (short) => {
    const run = story(on())
    run.see([aPayment({ amountBase: DUE - short, state: 'confirmed' })])
    expect(run.state()).toMatchObject({ status: 'paid', exceptions: [], underpaidAccepted: true })
  })

  it('is at least what can be sent where the merchant accepts no such rest', () => {
    const run = story(on({ policy: { ...policy, toleranceBase: 0n } }))
    run.see([aPayment({ payment: 'a', amountBase: DUE - 1n, state: 'confirmed' })])
    expect(amountOf(run)).toBe(600n)
    run.see([aPayment({ payment: 'b', amountBase: 546n, state: 'confirmed', firstSeenAt: T0 + 2 * MINUTE })])
    expect(run.state()).toMatchObject({ status: 'paid', exceptions: [], underpaidAccepted: false })
  })

  it.each([
    [546n, 'paid'],
    [547n, 'overpaid'],
  ] as const)('allows %s too much: %s', (excess, status) => {
    const run = story(on())
    run.see([aPayment({ amountBase: DUE + excess, state: 'confirmed' })])
    expect(run.state().status).toBe(status)
    expect(run.state().exceptions).toHaveLength(status === 'paid' ? 0 : 1)
  })

  it.each(['new', 'confirming', 'paid', 'overpaid', 'expired', 'cancelled'] as const)(
    'is nothing when %s',
    (status) => {
      expect(amountOf(storyIn(status))).toBe(0n)
    },
  )

  it('is the whole price again, as it was quoted, when what was paid is gone', () => {
    const run = story(on())
    run.see([aPayment({ amountBase: DUE / 3n })])
    run.see([aPayment({ amountBase: DUE / 3n, state: 'replaced', version: 2 })])
    expect(amountOf(run)).toBe(DUE)
  })

  it.each([
    ['an amount identifies the invoice', { hold: { kind: 'amount', quarantineMs: 1, heldMs: 1, releasedAt: null } }],
    ['the address was another one’s', { priorHold: { invoiceId: 'i', workspaceId: 'w', number: 1, until: DEADLINE } }],
  ] as const)('is only what the quote says where %s', (_, change) => {
    const run = story(on(change))
    expect(amountOf(run)).toBe(DUE)
    run.see([aPayment({ amountBase: DUE / 2n })])
    expect(needsNewAmount(run.state(), T0 + 2 * MINUTE)).toBe(true)
    expect(amountOf(run)).toBe(0n)
  })

  it('is the amount of a renewed quote even where that was raised to be unique, and paying it is not too much', () => {
    const run = story(on({ hold: { kind: 'amount', quarantineMs: 1, heldMs: 1, releasedAt: null } }))
    run.see([aPayment({ payment: 'a', amountBase: 333_333n, state: 'confirmed' })])
    const rest = restBase(run.state(), DUE) ?? 0n
    const unique = rest + 9_999n
    const quote = aQuote({ amountBase: unique, quotedAt: T0 + MINUTE, rest: { wholeBase: DUE, restBase: rest } })
    run.apply({ ...renewal, quote, claim: 'other' }, [], T0 + 2 * MINUTE)
    expect(amountOf(run)).toBe(unique)
    run.see([aPayment({ payment: 'b', amountBase: unique, state: 'confirmed', firstSeenAt: T0 + 3 * MINUTE })])
    expect(run.state()).toMatchObject({ status: 'paid', exceptions: [], underpaidAccepted: false })
  })
})
