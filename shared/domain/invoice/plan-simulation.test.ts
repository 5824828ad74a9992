import { describe, expect, it } from 'vitest'
import { INVOICE_STATUSES } from '../enumerations.ts'
import { planSimulation, type SimulationScenario } from './plan-simulation.ts'
import { aLock, anOldLock, aPayment, aQuote, DUE, story, storyIn } from './transition-fixtures.ts'

const REFUSED = { outcome: 'refused', reason: 'not_simulatable' }
const SCENARIOS: readonly SimulationScenario[] = ['paid', 'partial', 'overpaid', 'expired']

describe('simulation plans', () => {
  it('pay what is missing, half of it, or up to 110 %', () => {
    const told = story()
    expect(planSimulation(told.state(), 'paid')).toEqual({ outcome: 'pay', amountBase: DUE })
    expect(planSimulation(told.state(), 'partial')).toEqual({ outcome: 'pay', amountBase: DUE / 2n })
    expect(planSimulation(told.state(), 'overpaid')).toEqual({ outcome: 'pay', amountBase: (DUE * 11n) / 10n })
    expect(planSimulation(told.state(), 'expired')).toEqual({ outcome: 'expire' })
    told.see([aPayment({ simulated: true, state: 'confirmed', amountBase: DUE / 2n })])
    expect(planSimulation(told.state(), 'paid')).toEqual({ outcome: 'pay', amountBase: DUE / 2n })
    expect(planSimulation(told.state(), 'partial')).toEqual({ outcome: 'pay', amountBase: DUE / 4n })
    expect(planSimulation(told.state(), 'overpaid')).toEqual({ outcome: 'pay', amountBase: (DUE * 6n) / 10n })
  })

  it('lead to the state they name, whatever the amount', () => {
    for (const amountBase of [2n, 3n, 7n, 999n, DUE]) {
      for (const scenario of SCENARIOS) {
        const told = story(aLock({ quotes: [aQuote({ amountBase })] }))
        const plan = planSimulation(told.state(), scenario)
        if (plan.outcome === 'pay') {
          told.see([aPayment({ simulated: true, state: 'confirmed', amountBase: plan.amountBase })])
        }
        if (plan.outcome === 'expire') told.apply({ type: 'expiry_simulated' })
        expect(told.state().status).toBe(scenario)
      }
    }
  })

  it('a part that would already settle is refused', () => {
    const tiny = story(aLock({ quotes: [aQuote({ amountBase: 1n })] }))
    expect(planSimulation(tiny.state(), 'partial')).toEqual(REFUSED)
    const lax = story(aLock({ policy: { ...aLock().policy, toleranceBase: DUE / 2n } }))
    expect(planSimulation(lax.state(), 'partial')).toEqual(REFUSED)
  })

  it('are refused beside real money, in live mode and in every state but pending and partial', () => {
    for (const scenario of SCENARIOS) {
      expect(planSimulation(storyIn('partial').state(), scenario)).toEqual(REFUSED)
      expect(planSimulation(story(aLock(), { mode: 'live' }).state(), scenario)).toEqual(REFUSED)
      for (const status of INVOICE_STATUSES.filter((one) => one !== 'pending')) {
        expect(planSimulation(storyIn(status).state(), scenario)).toEqual(REFUSED)
      }
    }
    const orphaned = story()
    orphaned.see([aPayment(), aPayment({ state: 'orphaned', version: 2 })])
    expect(planSimulation(orphaned.state(), 'paid').outcome).toBe('pay')
  })

  it('dust of a real sender blocks none', () => {
    const told = story()
    told.see([aPayment({ amountBase: 5n })])
    expect(planSimulation(told.state(), 'paid')).toEqual({ outcome: 'pay', amountBase: DUE })
    const old = story(anOldLock())
    old.see([aPayment({ amountBase: 5n })])
    expect(planSimulation(old.state(), 'paid')).toEqual(REFUSED)
  })
})
