import type { Prng } from '../kernel/prng.ts'
import type { SimChain } from './chain.ts'
import type { Sim } from './sim.ts'

/** Somebody looks at a node that loads at least so often. */
const LOOK_MS = 40_000

/** Restarts one node of a chain, or both: each reads the mempool that it kept for up to a quarter of an hour. */
export function restartNodes(sim: Sim, chain: SimChain, luck: Prng): void {
  const { scheduler } = sim
  const lastsMs = luck.between(10_000, 900_000)
  const which = luck.pick([[0], [1], [0, 1], [0, 1]])
  sim.fault('F9 node restarted', `${chain.id} ${which.join()} ${lastsMs}`)
  for (const one of which) chain.restartNode(one, scheduler.now, scheduler.now + lastsMs)
  for (let after = 0; after <= lastsMs + LOOK_MS; after += LOOK_MS) {
    scheduler.at(after, 'world', null, 'node loads', () => sim.touch())
  }
}
