import fc from 'fast-check'
import { describe, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { PAYMENT_STATES } from '../enumerations.ts'
import type { PaymentObservation } from './invoice-event.ts'
import type { InvoiceState, Ms } from './model.ts'
import { isSettled, totals } from './totals.ts'
import { transition } from './transition.ts'
import { amount, firstSeenAt, holds, rateSeen, start } from './transition-arbitraries.fixture.ts'
import { aPayment, DEADLINE, MINUTE, T0 } from './transition-story.fixture.ts'

describe('payments that do not know of each other', () => {
  const observation = fc
    .record({ amountBase: amount, firstSeenAt, rateSeen, state: fc.constantFrom(...PAYMENT_STATES) })
    .map((one) => aPayment(one))
  const several = fc
    .array(observation, { minLength: 2, maxLength: 4 })
    .map((list) => list.map((one, index) => ({ ...one, payment: `p${index}` })))
  const at = fc.constantFrom(T0 + 2 * MINUTE, DEADLINE + 100 * MINUTE)

  function seeAll(batches: readonly (readonly PaymentObservation[])[], time: Ms, from: InvoiceState): InvoiceState {
    const known = new Map<string, PaymentObservation>()
    return batches.reduce((state, batch) => {
      for (const one of batch) known.set(one.payment, one)
      const input = { observations: [...known.values()], event: { type: 'payments_changed' }, at: time } as const
      const result = transition(state, input)
      return result.outcome === 'refused' ? state : result.state
    }, from)
  }
  const expired = (): InvoiceState => ({ ...start(), status: 'expired', nextActionAt: null })
  const outcome = (state: InvoiceState) =>
    [state.status, isSettled(state) || state.paidLate, ...Object.values(totals(state))].join(' ')

  it('may come in any order, alone or together', () => {
    fc.assert(
      fc.property(several, at, fc.boolean(), (list, time, over) => {
        const from = over ? expired() : start()
        const together = seeAll([list], time, from)
        const forward = seeAll(
          list.map((one) => [one]),
          time,
          from,
        )
        const backward = seeAll(
          [...list].reverse().map((one) => [one]),
          time,
          from,
        )
        holds(outcome(forward) === outcome(together), 'forward equals together')
        holds(outcome(backward) === outcome(together), 'backward equals together')
      }),
      RUNS,
    )
  })

  it('leave nothing behind when they are orphaned before they confirm', () => {
    fc.assert(
      fc.property(several, observation, fc.boolean(), (list, extra, over) => {
        const from = over ? expired() : start()
        const time = over ? DEADLINE + 100 * MINUTE : T0 + 2 * MINUTE
        const ghost = { ...extra, payment: 'x', state: 'detected' as const }
        const haunted = seeAll([list, [ghost], [{ ...ghost, state: 'orphaned', version: 2 }]], time, from)
        holds(outcome(haunted) === outcome(seeAll([list], time, from)), 'as if it had never been')
      }),
      RUNS,
    )
  })
})
