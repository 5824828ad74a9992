import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Prng } from '../kernel/prng.ts'
import type { SimChain } from './chain.ts'
import type { Sim } from './sim.ts'
import { TROUBLES, type Trouble } from './trouble-kinds.ts'

/** Share of the seeds whose chain has nodes with their own trouble. */
const SHARE = 0.4
const MINUTE_MS = 60_000
const NEAR_MS = 40 * MINUTE_MS
/** Nodes go away while payers pay: an order is paid within minutes. */
const PAYING_MS = 8 * MINUTE_MS
const HOUR_MS = 60 * MINUTE_MS

/** Draws the trouble of a seed and the network that has it; none for most seeds, and in fair weather only the network. */
export function drawTrouble(
  random: Prng,
  isFair: boolean,
): { readonly trouble: Trouble; readonly network: NetworkId } | null {
  const [trouble, network] = random.pick(TROUBLES)
  return random.chance(SHARE) ? { trouble: isFair ? 'none' : trouble, network } : null
}

/** Arranges the trouble of a seed around the bursts of orders. */
export function arrangeTrouble(sim: Sim, bursts: readonly number[], random: Prng): void {
  const [chain] = sim.chains.values()
  if (chain === undefined || sim.trouble === null) return
  const begin = BEGIN[sim.trouble]
  const times = sim.trouble === 'late slots' ? 12 : random.between(1, 2)
  const nearMs = sim.trouble === 'pruned' || sim.trouble === 'wrong time' ? PAYING_MS : NEAR_MS
  if (sim.trouble === 'wrong time' && chain.hasMempool) runAhead(sim, chain, random.fork('ahead'))
  for (let one = 0; one < times; one += 1) {
    const luck = random.fork(`${sim.trouble}/${one}`)
    sim.scheduler.at(luck.pick(bursts) + luck.next() * nearMs - sim.scheduler.now, 'world', null, sim.trouble, () => {
      if (!sim.healed) begin(sim, chain, luck)
    })
  }
}

const BEGIN: Readonly<Record<Trouble, (sim: Sim, chain: SimChain, luck: Prng) => void>> = {
  none: () => undefined,
  bombs: () => undefined,
  pruned: prune,
  'late slots': fallBehind,
  'still final': standStill,
  'wrong time': (sim, chain, luck) => {
    goAway(sim, chain, luck.between(5 * MINUTE_MS, 50 * MINUTE_MS))
    runAhead(sim, chain, luck)
  },
}

/** No node answers for a while. */
function goAway(sim: Sim, chain: SimChain, ms: number): void {
  sim.touch()
  sim.fault('F19 nodes away', `${chain.id} ${ms}`)
  chain.conditions.awayUntil = Math.max(chain.conditions.awayUntil, sim.scheduler.now + ms)
}

/** No node answers for a while, and when they do they have dropped all blocks but their newest. */
function prune(sim: Sim, chain: SimChain, luck: Prng): void {
  const ms = luck.between(3 * MINUTE_MS, 45 * MINUTE_MS)
  goAway(sim, chain, ms)
  sim.scheduler.at(ms - 1, 'world', null, 'nodes prune', () => {
    if (sim.healed) return
    chain.sync(sim.scheduler.now)
    const keptFrom = chain.blocks.length - luck.between(1, 5)
    sim.touch()
    sim.fault('F19 pruned', `${chain.id} below ${keptFrom}`)
    chain.conditions.keptFrom = Math.max(chain.conditions.keptFrom, keptFrom)
  })
}

/** Blocks and lists of them run behind the votes. */
function fallBehind(sim: Sim, chain: SimChain, luck: Prng): void {
  sim.touch()
  sim.fault('F19 late slots', chain.id)
  chain.conditions.late = { blocks: luck.between(0, 3), listed: luck.between(0, 6) }
  const until = luck.between(MINUTE_MS, 20 * MINUTE_MS)
  sim.scheduler.at(until, 'world', null, 'slots in time', () => {
    chain.conditions.late = { blocks: 0, listed: 0 }
  })
}

/** The second node's final block stands still until a person sees it, or everything is mended. */
function standStill(sim: Sim, chain: SimChain): void {
  sim.touch()
  chain.sync(sim.scheduler.now)
  sim.fault('F19 still final', chain.id)
  chain.conditions.stands ??= { at: Math.max(0, chain.blocks.length - 21), since: sim.scheduler.now }
}

/** New blocks say to be later than they are: up to two hours where miners state their times. */
function runAhead(sim: Sim, chain: SimChain, luck: Prng): void {
  sim.fault('F19 wrong time', chain.id)
  chain.conditions.aheadMs = luck.between(MINUTE_MS, chain.hasMempool ? 2 * HOUR_MS - MINUTE_MS : 24 * HOUR_MS)
  sim.scheduler.at(luck.between(MINUTE_MS, HOUR_MS), 'world', null, 'right time', () => {
    chain.conditions.aheadMs = 0
  })
}
