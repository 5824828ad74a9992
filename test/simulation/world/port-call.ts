import type { Prng } from '../kernel/prng.ts'
import type { SimProcess } from '../kernel/sim-process.ts'
import type { Sim } from './sim.ts'

/** One question of a process to something outside of it. */
export interface PortCall<T> {
  readonly what: string
  /** How long until it takes effect and is answered. */
  readonly latencyMs: number
  /** What happens out there; runs once, at the moment at which the call takes effect. May throw what the process shall see. */
  readonly effect: () => T
  /** Words about the outcome for the trace. */
  readonly show?: (outcome: T) => string
  /** Probability that the process dies at this call, half of the time after it took effect. */
  readonly crash: number
  /** How much likelier than elsewhere the process is stopped at this call, because much hangs on it. */
  readonly tender?: number
  /** How much longer the answer takes than the effect, asked when it took effect. */
  readonly held?: () => number
  /** Chance that the effect happens and this error is all that comes back. */
  readonly lost?: { readonly chance: number; readonly name: string; readonly error: () => Error }
}

/** Makes the one way out of a process: every answer is a separate event, and the process may die at each call. */
export function createPortCaller(sim: Sim, process: SimProcess, luck: Prng) {
  return <T>(call: PortCall<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      // What is left of a dead process's code runs on until its next call, which never returns.
      if (!process.alive) return
      const { scheduler, mix, supervisor } = sim
      const dies = call.crash > 0 && supervisor.crashes < mix.crashesMax && luck.chance(call.crash)
      if (dies && luck.chance(0.5)) return supervisor.crash(process, `before ${call.what}`)
      const lost = call.lost !== undefined && luck.chance(call.lost.chance) ? call.lost : null
      scheduler.at(call.latencyMs, 'work', null, `${process.name} ${call.what}`, () => {
        try {
          const outcome = call.effect()
          if (call.show !== undefined) sim.trace.add(`  = ${call.show(outcome)}`)
          if (lost !== null) throw lostReply(sim, lost)
          const heldMs = call.held?.() ?? 0
          if (heldMs === 0) return scheduler.enter(process, () => resolve(outcome))
          scheduler.at(heldMs, 'work', null, `${process.name} ${call.what} held`, () =>
            scheduler.enter(process, () => resolve(outcome)),
          )
        } catch (error) {
          sim.trace.add(`  ! ${error instanceof Error ? error.message : String(error)}`)
          scheduler.enter(process, () => reject(error))
        }
      })
      if (dies) supervisor.crash(process, `during ${call.what}`)
      else if (luck.chance(mix.stopPerCall * (call.tender ?? 1))) stopFor(sim, process, luck.next() ** 2 * STOP_MAX_MS)
    })
}

const STOP_MAX_MS = 120_000

/** SIGSTOP, and SIGCONT after a while: the process knows of neither. */
export function stopFor(sim: Sim, process: SimProcess, ms: number): void {
  if (process.frozen || !process.alive) return
  sim.fault('F1 stopped', process.name)
  sim.scheduler.freeze(process)
  sim.frozenAt.set(process.name, Number.POSITIVE_INFINITY)
  sim.scheduler.at(ms + 500, 'work', null, `goes on ${process.name}`, () => letGoOn(sim, process))
}

/** Lets a stopped process go on. */
export function letGoOn(sim: Sim, process: SimProcess): void {
  if (!process.frozen) return
  sim.touch()
  sim.frozenAt.set(process.name, sim.scheduler.now)
  sim.scheduler.thaw(process)
}

function lostReply(sim: Sim, lost: { readonly name: string; readonly error: () => Error }): Error {
  sim.fault(lost.name)
  return lost.error()
}
