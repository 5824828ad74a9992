import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Report } from './binary-cache.ts'
import { freePort } from './free-port.ts'
import { type GuardedChild, startGuarded } from './guarded-child.ts'
import { endOrphan } from './orphan.ts'

/** A store that runs as a child of this process on a private port. */
export interface StoreProcess {
  readonly port: number
  readonly pid: number
  /** Ends the store in order; its data stays. */
  stop(): Promise<void>
}

export interface StoreProgram {
  /** Name of the program, as it shows in a process list. */
  readonly program: string
  readonly binary: string
  /** Absolute data folder. */
  readonly dir: string
  readonly preferredPort: number
  /** Command line for a port; the program must write its process id to `pidFile`. */
  args(port: number, pidFile: string): readonly string[]
  /** True when the program responds on the port. A throw means "not yet". */
  isUp(port: number): Promise<boolean>
  /** Called with one line when the running program ends without a `stop()`: exit status, and the cause from its log. */
  readonly report?: Report
}

const START_MS = 30_000
const STOP_MS = 10_000
const PORT_ATTEMPTS = 3

/**
 * Starts a store on its persistent folder. A store of a crashed run that still uses the folder is ended first, and a port
 * that is taken is replaced by another. Throws with the end of the store's own log when it does not come up.
 */
export async function startStoreProcess(store: StoreProgram): Promise<StoreProcess> {
  mkdirSync(store.dir, { recursive: true })
  const pidFile = join(store.dir, `${store.program}.pid`)
  const logFile = `${store.dir}.log`
  await endOrphan({ pidFile, program: store.program, dir: store.dir })
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(attempt === 1 ? store.preferredPort : 0)
    const child = await launch(store, port, pidFile, logFile)
    if (await comesUp(store, child, port)) return running(store, child, port, logFile)
    await child.stop(1_000)
    // Another process may take the port between the check and the start; anything else fails again and is reported.
    if (attempt === PORT_ATTEMPTS) throw new Error(`${store.program} did not start:\n${tail(logFile)}\n(${logFile})`)
  }
}

function running(store: StoreProgram, child: GuardedChild, port: number, logFile: string): StoreProcess {
  let isStopping = false
  void child.exited.then(({ code, signal }) => {
    if (isStopping || store.report === undefined) return
    store.report(`${store.program} ended (${signal ?? `status ${code}`}); its last errors:\n${errors(logFile)}`)
  })
  return {
    port,
    pid: child.pid,
    stop() {
      isStopping = true
      return child.stop(STOP_MS)
    },
  }
}

async function launch(store: StoreProgram, port: number, pidFile: string, logFile: string): Promise<GuardedChild> {
  const log = openSync(logFile, 'w')
  try {
    return await startGuarded(store.binary, store.args(port, pidFile), {
      cwd: store.dir,
      stdio: ['ignore', log, log],
    })
  } finally {
    closeSync(log)
  }
}

async function comesUp(store: StoreProgram, child: GuardedChild, port: number): Promise<boolean> {
  for (const until = Date.now() + START_MS; Date.now() < until && !child.hasExited(); await delay(20)) {
    try {
      if (await store.isUp(port)) return !child.hasExited()
    } catch {
      // Not listening yet.
    }
  }
  return false
}

/** The first lines of severity "error" and "fatal" of mongod's JSON log: stack frames follow them. For another program the end of its log. */
function errors(file: string): string {
  try {
    const severe = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /"s":"[EF]"/.test(line))
    return severe.length > 0 ? severe.slice(0, 3).join('\n') : tail(file)
  } catch {
    return ''
  }
}

function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').slice(-8).join('\n')
  } catch {
    return ''
  }
}
