import type { Prng } from '../kernel/prng.ts'
import type { Reaction, Receiver } from './receiver.ts'
import type { Sim } from './sim.ts'

const OK = (afterMs: number): Reaction => ({ kind: 'answer', status: 200, afterMs, arrives: true })
const STATUSES = [204, 301, 302, 307, 400, 404, 410, 429, 500, 502, 503] as const

/** A receiver with its own outages; once the world heals it is well, unless it is dead. */
export function createReceiver(sim: Sim, url: string, random: Prng): Receiver {
  const dead = sim.mix.receiverOutages > 0 && random.chance(0.25)
  const outages = Array.from({ length: random.chance(0.6) ? sim.mix.receiverOutages : 0 }, () => {
    const from = sim.scheduler.now + random.next() * 3 * 3_600_000
    return { from, to: from + random.next() ** 2 * 60 * 3_600_000, kind: random.pick(['500', 'hang', 'reset']) }
  })
  const broken = (kind: string): Reaction => {
    if (kind === 'hang') return { kind: 'fault', error: 'timeout', afterMs: 60_000, arrives: true }
    if (kind === 'reset') return { kind: 'fault', error: 'reset', afterMs: 20, arrives: random.chance(0.5) }
    return { kind: 'answer', status: 500, afterMs: 30, arrives: true }
  }
  const faulty = (): Reaction => {
    sim.fault('F13 receiver')
    switch (random.between(1, 9)) {
      case 1:
        return OK(9_900)
      case 2:
        return OK(10_100)
      case 3:
        return { kind: 'fault', error: 'reset', afterMs: random.between(5, 500), arrives: random.chance(0.7) }
      case 4:
        return { kind: 'fault', error: 'timeout', afterMs: 60_000, arrives: true }
      case 5:
        return { kind: 'fault', error: 'tls', afterMs: 60, arrives: false }
      case 6:
        return { kind: 'fault', error: 'refused', afterMs: 2, arrives: false }
      case 7:
        return { kind: 'fault', error: 'dns', afterMs: 300, arrives: false }
      default:
        return { kind: 'answer', status: random.pick(STATUSES), afterMs: random.between(5, 800), arrives: true }
    }
  }
  return {
    url,
    dead,
    react() {
      const { now } = sim.scheduler
      if (dead) return broken('500')
      if (sim.healed) return OK(random.between(5, 60))
      const outage = outages.find(({ from, to }) => from <= now && now < to)
      if (outage !== undefined) return broken(outage.kind)
      return random.chance(sim.mix.receiverFault) ? faulty() : OK(random.between(5, 300))
    },
  }
}
