import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { type RefundClaim, refundableBase } from '../payment/refundable.ts'
import type { PaymentObservation } from './invoice-event.ts'
import { isSettled, requestedBase } from './totals.ts'
import { transition } from './transition.ts'
import { holds } from './transition-arbitraries.fixture.ts'
import { aPayment, aPaymentMethod, aQuote, DUE, MINUTE, story, T0 } from './transition-story.fixture.ts'

const ASSET = 'usdt_ethereum' as const
const HOUR = 60 * MINUTE

/** Fourths of the price are paid, with a little more or less, fourths of what may be refunded that are refunded, or the oldest refund is withdrawn. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('payment' as const),
    fourths: fc.constantFrom(1n, 2n, 3n, 4n),
    // A rest below 0.1 % of the price is dust.
    beside: fc.constantFrom(0n, 0n, -500n, 500n),
    isSeen: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('refund' as const), fourths: fc.constantFrom(1n, 2n, 3n, 4n) }),
  fc.constant({ kind: 'withdrawal' as const }),
)
/** The price in coins of a second quote, which begins after some of the steps. */
const second = fc.constantFrom(DUE / 2n, DUE, DUE * 2n)

/** Plays the steps an hour apart; the invoice waits for all of them. Stops when it is paid. */
function play(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[], amountBase: bigint) {
  const quotes = [
    aQuote({ expiresAt: T0 + 3 * HOUR }),
    aQuote({ amountBase, quotedAt: T0 + 3 * HOUR, expiresAt: T0 + 99 * HOUR }),
  ]
  let { state } = { state: story(aPaymentMethod({ quotes }), { expiresAt: T0 + 99 * HOUR }).state() }
  let refunds: readonly RefundClaim[] = []
  const payments: PaymentObservation[] = []
  let at = T0
  const next = () => {
    const result = transition(state, { observations: payments, event: { type: 'payments_changed' }, at, refunds })
    if (result.outcome === 'changed') state = result.state
  }
  const pay = (base: bigint, isSeen: boolean) => {
    const name = `p${payments.length}`
    payments.push(
      aPayment({ payment: name, amountBase: base, state: isSeen ? 'detected' : 'confirmed', firstSeenAt: at }),
    )
    next()
  }
  for (const one of steps) {
    at += HOUR
    if (one.kind === 'payment') pay((DUE * one.fourths) / 4n + one.beside, one.isSeen)
    if (one.kind === 'refund') {
      const base = (refundableBase(ASSET, payments, refunds) * one.fourths) / 4n
      if (base > 0n) refunds = [...refunds, { asset: ASSET, status: 'sent', amountBase: base, createdAt: at }]
    }
    if (one.kind === 'withdrawal') refunds = refunds.slice(1)
    next()
    if (isSettled(state)) break
  }
  const left = () => refundableBase(ASSET, payments, refunds)
  const confirmAll = () => {
    at += HOUR
    payments.forEach((seen, index) => {
      if (seen.state === 'detected') payments[index] = { ...seen, state: 'confirmed', version: seen.version + 1 }
    })
    next()
  }
  const payRest = () => pay(requestedBase(state, at), false)
  return { state: () => state, quotes, left, confirmAll, payRest }
}

// Guards money: however payments and refunds alternate, an invoice that is paid left its merchant the price; and what a payer is asked for pays.
it('an invoice is paid exactly when what refunds leave is the price, and what its page asks for pays it', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 7 }), second, (steps, amountBase) => {
      const run = play(steps, amountBase)
      const least = run.quotes.map((quote) => quote.amountBase)
      const isPrice = () => least.some((base) => run.left() >= base)
      if (isSettled(run.state())) return holds(isPrice(), 'the merchant keeps the price')
      run.confirmAll()
      if (isSettled(run.state())) return holds(isPrice(), 'the merchant keeps the price')
      run.payRest()
      holds(run.state().status === 'paid', 'what the page asks for pays, and is not too much')
      return holds(isPrice(), 'the merchant keeps the price')
    }),
    RUNS,
  )
})

it('the steps reach invoices that are paid, and such that wait though the whole price was received', () => {
  const reached = new Set<string>()
  for (const [steps] of fc.sample(fc.tuple(fc.array(step, { minLength: 2, maxLength: 7 })), {
    numRuns: 500,
    seed: 1,
  })) {
    const { state } = play(steps, DUE)
    const { status, ledger, claimedBase = 0n } = state()
    const received = ledger.reduce((sum, { amountBase }) => sum + amountBase, 0n)
    reached.add(claimedBase > 0n && received >= DUE ? `${status} after refunds` : status)
  }
  expect([...reached].sort()).toEqual(expect.arrayContaining(['paid', 'paid after refunds', 'partial after refunds']))
})
