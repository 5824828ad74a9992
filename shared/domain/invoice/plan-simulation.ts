import type { InvoiceStatus } from '../enumerations.ts'
import type { Refusal } from './invoice-event.ts'
import { activePaymentMethod, type InvoiceState } from './model.ts'
import { isLive, totals } from './totals.ts'

/**
 * Scenarios of a test invoice: the four outcomes of the specification (SimulateRequest), and three that the REST API does
 * not offer: `late`, a payment after the deadline or a cancellation, `second`, the whole price once more on an invoice that is paid, and
 * `unconfirmed`, a payment that is seen and not confirmed yet.
 */
export type SimulationScenario = 'paid' | 'partial' | 'overpaid' | 'expired' | 'late' | 'second' | 'unconfirmed'

/** Steps of the caller to produce a scenario, or why it is refused. */
export type SimulationPlan =
  | { readonly outcome: 'refused'; readonly reason: Refusal }
  /** Store a confirmed simulated payment of this amount in the chosen asset, then apply `payments_changed`. */
  | { readonly outcome: 'pay'; readonly amountBase: bigint }
  /** Apply `expiry_simulated`. */
  | { readonly outcome: 'expire' }

const REFUSED: SimulationPlan = { outcome: 'refused', reason: 'not_simulatable' }

/** Payments that real money allows after an invoice has ended, and the ends after which they come. */
const AFTER_END: Partial<Record<SimulationScenario, readonly InvoiceStatus[]>> = {
  overpaid: ['paid'],
  second: ['paid', 'overpaid'],
  late: ['expired', 'cancelled'],
}
const ONLY_AFTER_END: readonly SimulationScenario[] = ['second', 'late']

/**
 * Plans a scenario for an invoice of test mode in `pending` or `partial` that holds no real money; anything else is
 * refused, but for the payments that follow an end: `overpaid` and `second` on an invoice that is paid, `late` on one that is expired or
 * cancelled. An invoice in `new` must have an asset chosen first. `paid`, `late` and `unconfirmed` pay the missing amount, `partial` half of
 * it (refused when half would already settle), `overpaid` tops up to 110 % of the amount due, `second` pays what is due once more.
 */
export function planSimulation(state: InvoiceState, scenario: SimulationScenario): SimulationPlan {
  const paymentMethod = activePaymentMethod(state)
  const ends: readonly InvoiceStatus[] = AFTER_END[scenario] ?? []
  const followsEnd = ends.includes(state.status) && isPlaying(state)
  const waits = !ONLY_AFTER_END.includes(scenario) && isSimulatable(state)
  if (paymentMethod === null || !(followsEnd || waits)) return REFUSED
  if (scenario === 'expired') return { outcome: 'expire' }
  const { dueBase, seenBase, neededBase, mostBase } = totals(state)
  const missingBase = dueBase - seenBase
  if (scenario === 'second') return pay(dueBase)
  if (scenario === 'paid' || scenario === 'late' || scenario === 'unconfirmed') return pay(missingBase)
  if (scenario === 'partial') {
    const halfBase = (missingBase + 1n) / 2n
    return seenBase + halfBase >= neededBase ? REFUSED : pay(halfBase)
  }
  const overBase = (dueBase * 11n + 9n) / 10n
  const overpaidFrom = mostBase + 1n
  return pay((overBase > overpaidFrom ? overBase : overpaidFrom) - seenBase)
}

/** True when simulated events are allowed on an invoice: test mode, still waiting for money, and none of it real. */
export function isSimulatable(state: InvoiceState): boolean {
  return (state.status === 'pending' || state.status === 'partial') && isPlaying(state)
}

/** A test invoice that holds no real money. */
function isPlaying(state: InvoiceState): boolean {
  if (state.mode !== 'test') return false
  const real = state.ledger.some((row) => isLive(row) && !row.simulated)
  return !real && (state.others?.seenBase ?? 0n) === 0n
}

function pay(amountBase: bigint): SimulationPlan {
  return amountBase > 0n ? { outcome: 'pay', amountBase } : REFUSED
}
