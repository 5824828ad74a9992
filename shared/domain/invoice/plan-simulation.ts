import { activeLock, type InvoiceState, type Refusal } from './model.ts'
import { isLive, neededBase, totals } from './totals.ts'

/** The four outcomes that a test key may play (specification, SimulateRequest). */
export type SimulationScenario = 'paid' | 'partial' | 'overpaid' | 'expired'

/** What the caller must do to bring a scenario about, or why it may not. */
export type SimulationPlan =
  | { readonly outcome: 'refused'; readonly reason: Refusal }
  /** Store a confirmed simulated payment of this amount in the locked asset, then apply `payments_changed`. */
  | { readonly outcome: 'pay'; readonly amountBase: bigint }
  /** Apply `expiry_simulated`. */
  | { readonly outcome: 'expire' }

const REFUSED: SimulationPlan = { outcome: 'refused', reason: 'not_simulatable' }

/**
 * Plans a scenario for an invoice of test mode in `pending` or `partial` that holds no real money; anything else is
 * refused. An invoice in `new` must have an asset locked first. `paid` pays what is missing, `partial` half of that
 * (refused when half would already settle), `overpaid` tops up to 110 % of the amount due.
 */
export function planSimulation(state: InvoiceState, scenario: SimulationScenario): SimulationPlan {
  const lock = activeLock(state)
  if (lock === null || !isSimulatable(state)) return REFUSED
  if (scenario === 'expired') return { outcome: 'expire' }
  const { dueBase, seenBase } = totals(state)
  const missingBase = dueBase - seenBase
  if (scenario === 'paid') return pay(missingBase)
  if (scenario === 'partial') {
    const halfBase = (missingBase + 1n) / 2n
    return seenBase + halfBase >= neededBase(state, dueBase) ? REFUSED : pay(halfBase)
  }
  const overBase = (dueBase * 11n + 9n) / 10n
  const overpaidFrom = dueBase + lock.policy.overToleranceBase + 1n
  return pay((overBase > overpaidFrom ? overBase : overpaidFrom) - seenBase)
}

/** True when simulated events may happen to an invoice: test mode, still waiting for money, and none of it real. */
export function isSimulatable(state: InvoiceState): boolean {
  if (state.mode !== 'test') return false
  if (state.status !== 'pending' && state.status !== 'partial') return false
  const real = state.ledger.some((row) => isLive(row) && !row.simulated)
  return !real && (state.others?.seenBase ?? 0n) === 0n
}

function pay(amountBase: bigint): SimulationPlan {
  return amountBase > 0n ? { outcome: 'pay', amountBase } : REFUSED
}
