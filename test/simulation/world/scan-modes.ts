import type { Prng } from '../kernel/prng.ts'
import type { SimChain } from './chain.ts'
import type { ScanPlan } from './scan-plan.ts'
import type { Sim } from './sim.ts'

/** Draws full, thrifty or changing scanning for every chain of accounts; others are read in full. */
export function drawScanModes(chains: readonly SimChain[], random: Prng): ReadonlyMap<string, ScanPlan> {
  return new Map(
    chains.map((chain): [string, ScanPlan] => {
      const luck = random.fork(chain.id)
      const kind = chain.family !== 'evm' ? 'full' : luck.pick(['full', 'full', 'thrifty', 'changing'])
      const isThrifty = kind === 'thrifty' || (kind === 'changing' && luck.chance(0.5))
      return [
        chain.id,
        {
          isThrifty,
          wasThrifty: isThrifty,
          switches: kind === 'changing' ? luck.between(1, 4) : 0,
          isPruned: luck.chance(0.3),
          isNearlySpent: luck.chance(0.2),
        },
      ]
    }),
  )
}

/** How long after the beginning of a burst an operator may change a setting. */
const NEAR_MS = 3 * 3_600_000

/** Changes the settings at their times, and restarts the scanners that they are of. */
export function arrangeScanModes(sim: Sim, bursts: readonly number[], random: Prng): void {
  for (const [id, plan] of sim.scanPlans) {
    const luck = random.fork(id)
    for (let one = 0; one < plan.switches; one += 1) {
      const at = luck.pick(bursts) + luck.next() * NEAR_MS
      sim.scheduler.at(at - sim.scheduler.now, 'world', null, 'change of mode', () => {
        if (!sim.healed) changeMode(sim, id, plan)
      })
    }
  }
}

/** Changes the setting of a chain and restarts its scanners. */
export function changeMode(sim: Sim, id: string, plan: ScanPlan): void {
  plan.isThrifty = !plan.isThrifty
  plan.wasThrifty = true
  sim.touch()
  sim.trace.add(`  ${id} becomes ${plan.isThrifty ? 'thrifty' : 'full'}`)
  for (const { process } of sim.supervisor.all()) {
    if (process.type === `scanner-${id}`) sim.supervisor.crash(process, 'for another mode')
  }
}
