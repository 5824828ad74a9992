import { openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freePort } from '#dev/embedded/free-port.ts'
import { bundled } from '#scripts/bundle.mjs'
import { type Environment, environmentFor } from './environment.ts'
import type { ProcfileLine } from './procfile.ts'
import { startRoundRobin } from './round-robin.ts'
import type { Runner } from './runner.ts'
import { type Instance, instancesOf, type Scale } from './scale.ts'
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts'

export interface ProcessesOptions {
  /** What to run: the lines of the Procfile, or the one process of `SERVE_LINE`. */
  readonly lines: readonly ProcfileLine[]
  readonly environment: Environment
  readonly logFile: string
  readonly metricsPort: number
  /** Number of processes of each type; default one. */
  readonly scale?: Scale
  readonly keepAlive: boolean
  readonly report: (line: string) => void
  /** Called when a process id has changed. */
  readonly changed: () => void
}

const READY_MS = 30_000
const READY_EACH_MS = 5_000

/** Settings with a port that only one process can use; several of a type share it behind a round robin. */
const PORTS: Readonly<Record<string, string>> = {
  api: 'PAYMESH_API_PORT',
  checkout: 'PAYMESH_CHECKOUT_PORT',
  admin: 'PAYMESH_ADMIN_PORT',
}

/** Runs each line as often as `scale` requires. Resolves when all are ready; on failure none is left. */
export async function runProcesses(options: ProcessesOptions): Promise<Runner> {
  const entry = await bundled('scripts/service/main.ts', options.report)
  const bundle = { BUNDLE_HOME: fileURLToPath(new URL('../..', entry)) }
  const log = openSync(options.logFile, 'a')
  const running = new Map<string, SupervisedProcess>()
  const balancers: (() => Promise<void>)[] = []
  const stop = async () => {
    await Promise.all([...running.values()].map((each) => each.stop()))
    await Promise.all(balancers.splice(0).map((end) => end()))
  }
  const named = (name: string): SupervisedProcess => {
    const found = running.get(name)
    if (found === undefined) throw new Error(`no process ${name}; there are ${[...running.keys()].join(', ')}`)
    return found
  }
  try {
    for (const line of options.lines) {
      const shared = PORTS[line.name]
      const targets: number[] = []
      for (const instance of instancesOf(line.name, options.scale ?? {})) {
        const settings = environmentFor(line.name, options.environment)
        const environment = { ...settings, ...bundle, ...(await ownPorts(instance, targets)) }
        const preferred = options.metricsPort === 0 ? 0 : options.metricsPort + running.size
        const metricsPort = await freePort(preferred)
        const own = { ...line, name: instance.name }
        running.set(own.name, await superviseProcess({ ...options, environment, line: own, metricsPort, log }))
      }
      if (shared === undefined || targets.length === 0) continue
      const balancer = await startRoundRobin(Number(options.environment[shared]), targets)
      balancers.push(balancer.stop)
    }
    // All start at once and share the machine.
    const withinMs = READY_MS + running.size * READY_EACH_MS
    await Promise.all([...running.values()].map((each) => each.ready(withinMs)))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    metricsUrl: named(options.lines.at(-1)?.name ?? '').metricsUrl,
    pids: () =>
      Object.fromEntries(
        [...running].flatMap(([name, each]) => (each.pid() === null ? [] : [[name, each.pid() ?? 0]])),
      ),
    pidOf: (name) => {
      const pid = named(name).pid()
      if (pid === null) throw new Error(`${name} is not running`)
      return pid
    },
    kill: (name, signal) => named(name).kill(signal),
    restart: (name) => named(name).restart(),
    stop,
  }
}

/** Ports that this process must not share; those behind a round robin are added to `targets`. */
async function ownPorts({ type, number, of }: Instance, targets: number[]): Promise<Environment> {
  // Further mailers show the same mailbox; only the first uses the published port.
  if (type === 'mailer' && number > 1) return { PAYMESH_MAILBOX_PORT: '0' }
  const setting = PORTS[type]
  if (setting === undefined || of === 1) return {}
  const port = await freePort(0)
  targets.push(port)
  return { [setting]: String(port) }
}
