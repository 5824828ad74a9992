import type { Prng } from '../kernel/prng.ts'
import type { Machine, SimProcess } from '../kernel/sim-process.ts'
import type { Sim } from './sim.ts'
import type { RunningProcess, Supervisor } from './supervisor-port.ts'

/** Starts the program of a process. Whatever it keeps in memory dies with the process. */
export type Program = (sim: Sim, running: RunningProcess) => void | Promise<void>

/** Which programs run how often. */
export interface Plan {
  readonly type: string
  readonly instances: number
  readonly program: Program
}

const RESTART_MAX_MS = 600_000
const RESTART_HEALED_MS = 1_000

/** A supervisor of these processes, each instance on its own machine. */
export function createSupervisor(sim: () => Sim, plans: readonly Plan[], random: Prng): Supervisor {
  const running = new Map<string, RunningProcess>()
  const machines = new Map<string, Machine>()
  const starts = new Map<string, number>()
  let crashes = 0

  const start = (plan: Plan, instance: number): void => {
    const { scheduler } = sim()
    const slot = `${plan.type}#${instance}`
    const generation = (starts.get(slot) ?? 0) + 1
    starts.set(slot, generation)
    const machine = machines.get(slot) ?? { name: slot, skewMs: 0 }
    machines.set(slot, machine)
    const process: SimProcess = {
      name: `${slot}.${generation}`,
      type: plan.type,
      machine,
      bootAt: scheduler.now,
      alive: true,
      frozen: false,
      waiting: [],
    }
    const entry: RunningProcess = { process, handlers: new Map() }
    running.set(slot, entry)
    scheduler.at(0, 'work', process, 'boot', () => void plan.program(sim(), entry))
  }

  return {
    get crashes() {
      return crashes
    },
    get machines() {
      return [...machines.values()]
    },
    startAll() {
      for (const plan of plans) for (let one = 1; one <= plan.instances; one += 1) start(plan, one)
    },
    alive: (type) =>
      [...running.values()].filter(({ process }) => process.type === type && process.alive && !process.frozen),
    all: () => [...running.values()],
    crash(process, why) {
      if (!process.alive) return
      crashes += 1
      sim().fault('F1 crash', `${process.name} ${why}`)
      sim().scheduler.kill(process)
      sim().redis.forget(process)
      const slot = process.machine.name
      const plan = plans.find(({ type }) => type === process.type)
      if (plan === undefined) return
      const pause = sim().healed ? RESTART_HEALED_MS : random.next() ** 3 * RESTART_MAX_MS
      sim().scheduler.at(pause, 'world', null, `restart ${slot}`, () => {
        start(plan, Number(slot.split('#')[1]))
        sim().touch()
      })
    },
  }
}
