import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { INVOICE_STATUSES, PAYMENT_STATES } from '../enumerations.ts'
import { type RefundClaim, refundableBase } from '../payment/refundable.ts'
import { restBase } from './decide.ts'
import type { Effect, InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import { activePaymentMethod, type InvoiceState, type Ms } from './model.ts'
import { toleranceAt, wholeBase } from './quote-window.ts'
import { isLive, isSettled, settlement, totals } from './totals.ts'
import { transition } from './transition.ts'
import { amountOrRest, firstSeenAt, holds, rateSeen, start } from './transition-arbitraries.fixture.ts'
import {
  anotherPaymentMethod,
  aPayment,
  aQuote,
  DUE,
  effectName,
  MINUTE,
  renewal,
  T0,
} from './transition-story.fixture.ts'

const target = fc.constantFrom(
  { asset: 'usdt_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
  { asset: 'usdt_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
  { asset: 'usdc_ethereum', network: 'ethereum', matchKey: 'b2' } as const,
  { asset: 'usdc_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
)

/** What never changes about a payment. */
const transfer = fc
  .record({ amountBase: amountOrRest, firstSeenAt, rateSeen, target, simulated: fc.constantFrom(false, false, true) })
  .map(({ target, ...rest }) => ({ ...rest, ...target }))
const transfers = fc.tuple(transfer, transfer, transfer)

type Step =
  | {
      readonly kind: 'payment'
      readonly index: number
      readonly state: PaymentObservation['state']
      readonly minedTooLate: boolean
    }
  | { readonly kind: 'event'; readonly event: InvoiceEvent }
  /** Of what may be refunded in a coin this many fourths are, or the oldest refund is withdrawn. */
  | { readonly kind: 'refund'; readonly asset: 'usdt_ethereum' | 'usdc_ethereum'; readonly fourths: bigint }
  | { readonly kind: 'withdrawal' }
/** A step after a pause, while the chain is known up to `lag` before it. */
type TimedStep = Step & { readonly wait: Ms; readonly lag: Ms }
const steps: fc.Arbitrary<readonly TimedStep[]> = fc.array(
  fc
    .tuple(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({
            kind: fc.constant('payment' as const),
            index: fc.nat(2),
            state: fc.constantFrom(...PAYMENT_STATES),
            minedTooLate: fc.constantFrom(false, false, false, true),
          }),
        },
        {
          weight: 2,
          arbitrary: fc
            .constantFrom<InvoiceEvent>(
              { type: 'deadline_reached' },
              { type: 'deadline_reached' },
              { type: 'cancel_requested' },
              { type: 'expiry_simulated' },
              { type: 'funds_accepted', payments: [] },
              { type: 'funds_accepted', payments: [{ payment: 'p0', valueBase: DUE }] },
              { type: 'payment_counted', payment: 'p1' },
              { type: 'asset_chosen', paymentMethod: anotherPaymentMethod() },
              { type: 'payment_method_resumed', asset: 'usdt_ethereum', matchKey: 'a1' },
              { ...renewal, quote: aQuote({ quotedAt: T0 + 5 * MINUTE, amountBase: DUE * 2n }), claim: 'c' },
            )
            .map((event) => ({ kind: 'event' as const, event })),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constant('refund' as const),
            asset: fc.constantFrom('usdt_ethereum', 'usdt_ethereum', 'usdc_ethereum'),
            fourths: fc.constantFrom(1n, 2n, 4n),
          }),
        },
        { weight: 1, arbitrary: fc.constant({ kind: 'withdrawal' as const }) },
      ),
      fc.constantFrom(1, MINUTE, 15 * MINUTE, 25 * 60 * MINUTE),
      fc.constantFrom(0, 0, 25 * 60 * MINUTE),
    )
    .map(([step, wait, lag]) => ({ ...step, wait, lag })),
  { minLength: 1, maxLength: 7 },
)

/** One saved change of a story. */
interface Change {
  readonly before: InvoiceState
  readonly after: InvoiceState
  readonly effects: readonly Effect[]
  readonly event: InvoiceEvent
  readonly observations: readonly PaymentObservation[]
  readonly refunds: readonly RefundClaim[]
  readonly at: Ms
  readonly knownUntil: Ms
}

/** Renewals are prepared for what is unpaid. */
function preparedFor(state: InvoiceState, event: InvoiceEvent): InvoiceEvent {
  if (event.type !== 'quote_renewed') return event
  const { amountBase: wholeBase } = event.quote
  const rest = restBase(state, wholeBase)
  return rest === null
    ? event
    : { ...event, quote: { ...event.quote, amountBase: rest, rest: { wholeBase, restBase: rest } } }
}

type Transfer = Omit<PaymentObservation, 'payment' | 'version' | 'state' | 'minedTooLate'>

function refundsAfter(
  refunds: readonly RefundClaim[],
  step: Step,
  payments: readonly PaymentObservation[],
  createdAt: Ms,
): readonly RefundClaim[] {
  if (step.kind === 'withdrawal') {
    const oldest = refunds.findIndex(({ status }) => status !== 'withdrawn')
    return refunds.map((refund, index) => (index === oldest ? { ...refund, status: 'withdrawn' } : refund))
  }
  if (step.kind !== 'refund') return refunds
  const amountBase = (refundableBase(step.asset, payments, refunds) * step.fourths) / 4n
  return amountBase > 0n ? [...refunds, { asset: step.asset, status: 'sent', amountBase, createdAt }] : refunds
}

function tell(money: readonly Transfer[], story: readonly TimedStep[]): readonly Change[] {
  const known = new Map<string, PaymentObservation>()
  const changes: Change[] = []
  let refunds: readonly RefundClaim[] = []
  let state = start()
  let at = T0
  for (const step of story) {
    at += step.wait
    if (step.kind === 'payment') {
      const payment = `p${step.index}`
      const version = (known.get(payment)?.version ?? 0) + 1
      const { state: paymentState, minedTooLate } = step
      known.set(payment, aPayment({ ...money[step.index], payment, version, state: paymentState, minedTooLate }))
    }
    refunds = refundsAfter(refunds, step, [...known.values()], at)
    const event: InvoiceEvent = step.kind === 'event' ? preparedFor(state, step.event) : { type: 'payments_changed' }
    const observations = [...known.values()]
    const knownUntil = at - step.lag
    const result = transition(state, { observations, event, at, knownUntil, refunds })
    if (result.outcome === 'unchanged') holds(result.state === state, 'unchanged keeps the object')
    if (result.outcome !== 'changed') continue
    const inputs = { event, observations, refunds, at, knownUntil }
    changes.push({ before: state, after: result.state, effects: result.effects, ...inputs })
    state = result.state
  }
  return changes
}

/** What must be true of any story; all are checked on the same random stories: 1,000 in `npm test`, 20,000 in the deep stage `properties`. */
const GUARANTEES: Record<string, (changes: readonly Change[]) => void> = {
  'replay is silent': (changes) => {
    for (const { after, observations, refunds, at, knownUntil, event } of changes) {
      const again = event.type === 'deadline_reached' ? event : ({ type: 'payments_changed' } as const)
      const result = transition(after, { observations, event: again, at, knownUntil, refunds })
      holds(result.outcome === 'unchanged' && result.state === after, 'repeating an input changes nothing')
    }
  },

  'no invoice expires before the chain is known up to its deadline': (changes) => {
    for (const { before, after, event, knownUntil } of changes) {
      if (after.status !== 'expired' || before.status === 'expired' || event.type === 'expiry_simulated') continue
      holds(knownUntil >= before.expiresAt, 'an unread block may hold its payment')
    }
  },

  'a change is one version, an effect one number, and time goes forward': (changes) => {
    let effects = 2
    changes.forEach(({ before, after, effects: made }, index) => {
      effects += made.length
      holds(after.version === index + 2, 'version rises by one')
      holds(after.eventSeq === effects, 'eventSeq counts effects')
      holds(after.updatedAt > before.updatedAt, 'updatedAt rises')
    })
  },

  // No goods leave for money that is not there.
  'nothing is paid without enough confirmed eligible money or an operator': (changes) => {
    for (const { before, after, event } of changes) {
      if (isSettled(before) || !isSettled(after) || event.type === 'funds_accepted') continue
      holds(settlement(after, 'settled').isEnough, 'confirmed eligible money suffices')
      holds(after.paidAt !== null, 'the time of payment is known')
    }
  },

  // What was sent back pays nothing, however payments and refunds alternate: what is left is the whole price at some quote.
  'nothing is paid with money that refunds claim': (changes) => {
    for (const { before, after, event, observations, refunds } of changes) {
      const method = activePaymentMethod(after)
      if (isSettled(before) || !isSettled(after) || event.type === 'funds_accepted' || method === null) continue
      const leftBase = refundableBase(method.asset, observations, refunds)
      const isPrice = method.quotes.some((quote) => leftBase >= wholeBase(quote) - toleranceAt(method, quote))
      holds(isPrice, 'the merchant keeps the price')
    }
  },

  'paid, overpaid and cancelled are left only by more money or an operator': (changes) => {
    for (const { before, after, event } of changes) {
      if (before.status === 'overpaid') holds(after.status === 'overpaid', 'overpaid stays')
      if (before.status === 'paid') holds(isSettled(after), 'paid stays settled')
      if (before.status === 'cancelled' && event.type !== 'funds_accepted') {
        holds(after.status === 'cancelled', 'cancelled stays')
      }
    }
  },

  'payment events come once per payment, and a status is announced exactly when it is entered': (changes) => {
    const seen = new Set<string>()
    for (const { before, after, effects, event } of changes) {
      const texts = effects.map(effectName)
      for (const text of texts.filter((one) => one.startsWith('payment.') || one.startsWith('invoice.late'))) {
        holds(!seen.has(text), `${text} once`)
        seen.add(text)
      }
      const moved = before.status !== after.status
      holds(!moved || texts.includes(`invoice.${after.status}`), 'entering is announced')
      const wanted =
        event.type === 'asset_chosen' || event.type === 'payment_method_resumed' || event.type === 'quote_renewed'
      const simulated = after.ledger.some((row) => row.simulated)
      const states = texts.filter((one) => one.startsWith('invoice.') && !one.startsWith('invoice.late'))
      const silent = states.every((one) => one === 'invoice.partial')
      holds(moved || wanted || simulated || silent, 'staying is silent')
    }
  },

  'announced sums never exceed the distinct payments that were made': (changes) => {
    for (const { after, observations } of changes) {
      const made = observations.reduce((sum, one) => sum + one.amountBase, 0n)
      holds(after.partialAnnouncedBase <= made, 'announced')
      const attached = after.ledger.some((row) => row.acceptedBase !== null)
      holds(attached || totals(after).receivedBase <= made, 'received')
    }
  },

  'inbox entries open and close in turn, and detections come before what follows from them': (changes) => {
    const open = new Set<string>()
    for (const { effects, after } of changes) {
      const texts = effects.map(effectName)
      for (const text of texts) {
        if (text.startsWith('+')) holds(!open.has(text.slice(1)) && open.add(text.slice(1)).size > 0, `${text} once`)
        if (text.startsWith('-')) holds(open.delete(text.slice(1)), `${text} was open`)
      }
      holds(open.size === after.exceptions.length, 'the state knows what is open')
      for (const { payment, simulated } of after.ledger) {
        const detected = texts.indexOf(`payment.detected ${payment}`)
        const confirmed = texts.indexOf(`payment.confirmed ${payment}`)
        holds(detected < 0 || confirmed < 0 || detected < confirmed, 'detected before confirmed')
        const paid = texts.indexOf('invoice.paid')
        // A simulated payment may fix another quote as the price and so settle what was there before it.
        holds(simulated || paid < 0 || confirmed < paid, 'confirmed before paid')
      }
    }
  },

  'only money in the asset of the one active lock is summed': (changes) => {
    for (const { after, observations } of changes) {
      const active = after.paymentMethods.filter((one) => one.to === null)
      holds(active.length === 1, 'one active lock')
      for (const row of after.ledger.filter((one) => one.counted && isLive(one) && one.acceptedBase === null)) {
        const seen = observations.find((one) => one.payment === row.payment)
        holds(seen?.asset === active[0]?.asset && seen?.matchKey === active[0]?.matchKey, row.payment)
      }
    }
  },
}

describe('whatever happens', () => {
  it(Object.keys(GUARANTEES).join('; '), () => {
    fc.assert(
      fc.property(transfers, steps, (money, story) => {
        const changes = tell(money, story)
        for (const guarantee of Object.values(GUARANTEES)) guarantee(changes)
      }),
      RUNS,
    )
  })

  it('the stories reach every status, so that the guarantees are not empty', () => {
    const reached = new Set<string>()
    for (const [money, story] of fc.sample(fc.tuple(transfers, steps), { numRuns: 2_000, seed: 1 })) {
      for (const { after } of tell(money, story)) reached.add(after.status)
    }
    expect([...reached].sort()).toEqual(INVOICE_STATUSES.filter((status) => status !== 'new').toSorted())
  })
})
