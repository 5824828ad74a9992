import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { PAYMENT_STATES } from '../enumerations.ts'
import type { Effect, PaymentObservation } from './invoice-event.ts'
import type { InvoiceState } from './model.ts'
import { openInvoice } from './open-invoice.ts'
import { isDust, isLive, isSettled, totals } from './totals.ts'
import { transition } from './transition.ts'
import { aPayment, aPaymentMethod, DEADLINE, DUE, effectName, MINUTE, T0 } from './transition-story.fixture.ts'

const AT = DEADLINE + 1
const paymentMethod = aPaymentMethod({
  policy: { ...aPaymentMethod().policy, toleranceBase: 100n, sendableBase: 300n },
})
const start = (): InvoiceState =>
  openInvoice({ mode: 'live', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, paymentMethod }).state

const minute = fc.nat(20).map((minutes) => T0 + minutes * MINUTE)
/** Sums of these come within dust of what is due, from both sides. */
const near = fc.constantFrom(DUE - 999n, DUE - 600n, DUE - 101n, DUE / 2n, DUE / 2n - 300n, 1_000n)
const small = fc.constantFrom(1n, 99n, 300n, 500n, 501n, 700n, 900n, 999n)
const named = (amounts: readonly { amountBase: bigint; firstSeenAt: number }[]): readonly PaymentObservation[] =>
  amounts.map((one, index) => aPayment({ ...one, payment: `p${index}` }))
const mixed = fc
  .array(fc.record({ amountBase: fc.oneof(near, small), firstSeenAt: minute }), { minLength: 2, maxLength: 6 })
  .map(named)

/** Shows payments batch by batch; later batches replace earlier versions. */
function tell(batches: readonly (readonly PaymentObservation[])[]): {
  readonly state: InvoiceState
  readonly effects: readonly Effect[]
} {
  const known = new Map<string, PaymentObservation>()
  const effects: Effect[] = []
  let state = start()
  for (const batch of batches) {
    for (const one of batch) known.set(one.payment, one)
    const observations = [...known.values()]
    const result = transition(state, { observations, event: { type: 'payments_changed' }, at: AT, knownUntil: T0 })
    if (result.outcome !== 'changed') continue
    effects.push(...result.effects)
    state = result.state
  }
  return { state, effects }
}

const outcome = (state: InvoiceState): string => [state.status, ...Object.values(totals(state))].join(' ')
const alone = (list: readonly PaymentObservation[]) => list.map((one) => [one])
const inState = (one: PaymentObservation, state: PaymentObservation['state'], version: number) => ({
  ...one,
  state,
  version,
})
/** Fails with the guarantee's words; plain comparisons, since a matcher costs more than the transition it checks. */
function holds(condition: boolean, guarantee: string): void {
  if (!condition) throw new Error(`broken: ${guarantee}`)
}

describe('dust among other money', () => {
  it('sums do not depend on the order in which payments are seen, nor on that in which they confirm', {
    timeout: 120_000,
  }, () => {
    const orders = mixed.chain((list) =>
      fc.record({
        list: fc.constant(list),
        seen: fc.shuffledSubarray([...list], { minLength: list.length }),
        confirmed: fc.shuffledSubarray([...list], { minLength: list.length }),
      }),
    )
    let completed = 0
    fc.assert(
      fc.property(orders, ({ list, seen, confirmed }) => {
        const together = tell([list, list.map((one) => inState(one, 'confirmed', 2))]).state
        const later = confirmed.map((one) => inState(one, 'confirmed', 2))
        const apart = tell([...alone(seen), ...alone(later)]).state
        holds(outcome(apart) === outcome(together), 'apart equals together')
        if (together.ledger.some((row) => row.counted && isDust(paymentMethod, row))) completed += 1
      }),
      RUNS,
    )
    expect(completed).toBeGreaterThan(RUNS.numRuns / 20)
  })

  it('sums do not depend on the batches in which payments are found in the order of first sight', {
    timeout: 120_000,
  }, () => {
    const cuts = fc.record({ list: mixed, confirmed: fc.boolean(), cut: fc.nat(6), other: fc.nat(6) })
    fc.assert(
      fc.property(cuts, ({ list, confirmed, cut, other }) => {
        const sorted = list
          .map((one) => inState(one, confirmed ? 'confirmed' : 'detected', 1))
          .sort((a, b) => a.firstSeenAt - b.firstSeenAt || (a.payment < b.payment ? -1 : 1))
        const [from, to] = [Math.min(cut, other), Math.max(cut, other)]
        const batches = [sorted.slice(0, from), sorted.slice(from, to), sorted.slice(to)]
        holds(outcome(tell(batches).state) === outcome(tell([sorted]).state), 'batches equal together')
      }),
      RUNS,
    )
  })

  // Guarantee: as long as no rest is within dust of what is due, dust might as well not exist.
  it('leaves status, sums and events as they are without it, whatever becomes of it', () => {
    const real = fc.record({
      amountBase: fc.constantFrom(DUE / 4n, DUE / 2n, DUE, DUE + 5_000n),
      firstSeenAt: minute,
    })
    const dust = fc.record({ amountBase: small, firstSeenAt: fc.oneof(minute, fc.constant(DEADLINE + MINUTE)) })
    const step = fc.record({ index: fc.nat(5), state: fc.constantFrom(...PAYMENT_STATES) })
    const story = fc.record({
      real: fc.array(real, { minLength: 1, maxLength: 3 }),
      dust: fc.array(dust, { minLength: 1, maxLength: 3 }),
      steps: fc.array(step, { minLength: 1, maxLength: 8 }),
    })
    const statuses = new Set<string>()
    fc.assert(
      fc.property(story, (given) => {
        const all = named([...given.real, ...given.dust])
        const moves = given.steps.flatMap(({ index, state }, at) => {
          const one = all[index % all.length]
          return one === undefined ? [] : [inState(one, state, at + 1)]
        })
        const withDust = tell(alone(moves))
        const without = tell(alone(moves.filter((one) => !isDust(paymentMethod, one))))
        holds(outcome(withDust.state) === outcome(without.state), 'the same sums')
        const run = (effects: readonly Effect[]) => effects.map(effectName).join()
        holds(run(withDust.effects) === run(without.effects), 'the same events')
        holds(
          withDust.state.ledger.every((row) => !isDust(paymentMethod, row)),
          'no row',
        )
        statuses.add(without.state.status)
      }),
      RUNS,
    )
    expect([...statuses].sort()).toEqual(['confirming', 'overpaid', 'paid', 'partial', 'pending'])
  })

  it('at most one transfer of dust ever counts, and only where it settles what other money did not', {
    timeout: 120_000,
  }, () => {
    const story = fc.record({
      list: mixed,
      steps: fc.array(fc.record({ index: fc.nat(5), state: fc.constantFrom(...PAYMENT_STATES) }), { maxLength: 8 }),
    })
    fc.assert(
      fc.property(story, ({ list, steps }) => {
        const moves = steps.flatMap(({ index, state }, at) => {
          const one = list[index % list.length]
          return one === undefined ? [] : [inState(one, state, at + 1)]
        })
        const { state } = tell(alone(moves))
        const counted = state.ledger.filter((row) => row.counted && isLive(row))
        const dust = counted.filter((row) => isDust(paymentMethod, row))
        holds(dust.length <= 1, 'at most one')
        const { seenBase, dueBase } = totals(state)
        const enough = seenBase >= dueBase - paymentMethod.policy.toleranceBase
        holds(dust.length === 0 || enough || isSettled(state), 'it settles')
      }),
      RUNS,
    )
  })
})
