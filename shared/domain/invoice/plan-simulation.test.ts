import { describe, expect, it } from 'vitest'
import { INVOICE_STATUSES } from '../enumerations.ts'
import { planSimulation, type SimulationScenario } from './plan-simulation.ts'
import { aPayment, aPaymentMethod, aQuote, DUE, story, storyIn } from './transition-story.fixture.ts'

const REFUSED = { outcome: 'refused', reason: 'not_simulatable' }
const SCENARIOS: readonly SimulationScenario[] = ['paid', 'partial', 'overpaid', 'expired']

describe('simulation plans', () => {
  it('pay what is missing, half of it, or up to 110 %', () => {
    const run = story()
    expect(planSimulation(run.state(), 'paid')).toEqual({ outcome: 'pay', amountBase: DUE })
    expect(planSimulation(run.state(), 'partial')).toEqual({ outcome: 'pay', amountBase: DUE / 2n })
    expect(planSimulation(run.state(), 'overpaid')).toEqual({ outcome: 'pay', amountBase: (DUE * 11n) / 10n })
    expect(planSimulation(run.state(), 'expired')).toEqual({ outcome: 'expire' })
    run.see([aPayment({ simulated: true, state: 'confirmed', amountBase: DUE / 2n })])
    expect(planSimulation(run.state(), 'paid')).toEqual({ outcome: 'pay', amountBase: DUE / 2n })
    expect(planSimulation(run.state(), 'partial')).toEqual({ outcome: 'pay', amountBase: DUE / 4n })
    expect(planSimulation(run.state(), 'overpaid')).toEqual({ outcome: 'pay', amountBase: (DUE * 6n) / 10n })
  })

  it('lead to the state they name, whatever the amount', () => {
    for (const amountBase of [2n, 3n, 7n, 999n, DUE]) {
      for (const scenario of SCENARIOS) {
        const run = story(aPaymentMethod({ quotes: [aQuote({ amountBase })] }))
        const plan = planSimulation(run.state(), scenario)
        if (plan.outcome === 'pay') {
          run.see([aPayment({ simulated: true, state: 'confirmed', amountBase: plan.amountBase })])
        }
        if (plan.outcome === 'expire') run.apply({ type: 'expiry_simulated' })
        expect(run.state().status).toBe(scenario)
      }
    }
  })

  it('a part that would already settle is refused', () => {
    const tiny = story(aPaymentMethod({ quotes: [aQuote({ amountBase: 1n })] }))
    expect(planSimulation(tiny.state(), 'partial')).toEqual(REFUSED)
    const lax = story(aPaymentMethod({ policy: { ...aPaymentMethod().policy, toleranceBase: DUE / 2n } }))
    expect(planSimulation(lax.state(), 'partial')).toEqual(REFUSED)
  })

  it('tops a paid invoice up, as a customer who pays twice does', () => {
    const run = story()
    run.see([aPayment({ simulated: true, state: 'confirmed', amountBase: DUE })])
    expect(run.state().status).toBe('paid')
    expect(planSimulation(run.state(), 'second')).toEqual({ outcome: 'pay', amountBase: DUE })
    const top = planSimulation(run.state(), 'overpaid')
    expect(top).toEqual({ outcome: 'pay', amountBase: DUE / 10n })
    run.see([
      aPayment({ simulated: true, state: 'confirmed', amountBase: DUE }),
      aPayment({ payment: 'sim:1', simulated: true, state: 'confirmed', amountBase: DUE / 10n }),
    ])
    expect(run.state().status).toBe('overpaid')
    for (const scenario of SCENARIOS) expect(planSimulation(run.state(), scenario)).toEqual(REFUSED)
    expect(planSimulation(run.state(), 'second').outcome).toBe('pay')
  })

  it('are refused beside real money, in live mode and in every state but pending and partial', () => {
    for (const scenario of SCENARIOS) {
      expect(planSimulation(storyIn('partial').state(), scenario)).toEqual(REFUSED)
      expect(planSimulation(story(aPaymentMethod(), { mode: 'live' }).state(), scenario)).toEqual(REFUSED)
      for (const status of INVOICE_STATUSES.filter((one) => one !== 'pending')) {
        expect(planSimulation(storyIn(status).state(), scenario)).toEqual(REFUSED)
      }
    }
    const orphaned = story()
    orphaned.see([aPayment(), aPayment({ state: 'orphaned', version: 2 })])
    expect(planSimulation(orphaned.state(), 'paid').outcome).toBe('pay')
  })

  it('dust of a real sender blocks none', () => {
    const run = story()
    run.see([aPayment({ amountBase: 5n })])
    expect(planSimulation(run.state(), 'paid')).toEqual({ outcome: 'pay', amountBase: DUE })
  })
})

describe('a late payment', () => {
  it('pays an expired invoice, is late, and is announced as such', () => {
    const run = story()
    expect(planSimulation(run.state(), 'late')).toEqual(REFUSED)
    run.apply({ type: 'expiry_simulated' })
    expect(run.state().status).toBe('expired')
    expect(planSimulation(run.state(), 'late')).toEqual({ outcome: 'pay', amountBase: DUE })
    for (const scenario of SCENARIOS) expect(planSimulation(run.state(), scenario)).toEqual(REFUSED)
  })
})
