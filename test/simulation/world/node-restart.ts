import type { Prng } from '../kernel/prng.ts'
import type { SimChain } from './chain.ts'
import type { Sim } from './sim.ts'

/** While a node loads nobody sleeps for this long: what is missing there must stay so for two minutes to be given up. */
const AWAKE_MS = 200_000
const STEP_MS = 1_000

/** Restarts one node of a chain, or both: each reads the mempool that it kept for minutes. */
export function restartNodes(sim: Sim, chain: SimChain, luck: Prng): void {
  const { scheduler } = sim
  const lastsMs = luck.between(2 * AWAKE_MS, 900_000)
  const which = luck.pick([[0], [1], [0, 1], [0, 1]])
  sim.fault('F9 node restarted', `${chain.id} ${which.join()} ${lastsMs}`)
  for (const one of which) chain.restartNode(one, scheduler.now, scheduler.now + lastsMs)
  for (let after = 0; after <= AWAKE_MS; after += STEP_MS) {
    scheduler.at(after, 'world', null, 'node loads', () => sim.touch())
  }
}
