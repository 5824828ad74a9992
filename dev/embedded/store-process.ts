import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Report } from './binary-cache.ts'
import { freePort } from './free-port.ts'
import { type GuardedChild, startGuarded } from './guarded-child.ts'

/** A store that runs as a child of this process on a private port. */
export type StoreProcess = ReturnType<typeof running>

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

/** What a store of a data folder is started with. */
export type StoreSettings = Pick<StoreProgram, 'binary' | 'dir' | 'preferredPort' | 'report'>

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
    const isUp = await child.until(async () => (await store.isUp(port)) || null, START_MS)
    if (isUp !== null) return running(store, child, port, logFile)
    await child.stop(1_000)
    // Another process may take the port between the check and the start; anything else fails again and is reported.
    if (attempt === PORT_ATTEMPTS) throw new Error(`${store.program} did not start:\n${tail(logFile)}\n(${logFile})`)
  }
}

function running(store: StoreProgram, child: GuardedChild, port: number, logFile: string) {
  let isStopping = false
  void child.exited.then(({ code, signal }) => {
    if (isStopping || store.report === undefined) return
    store.report(`${store.program} ended (${signal ?? `status ${code}`}); its last errors:\n${errors(logFile)}`)
  })
  return {
    port,
    pid: child.pid,
    /** Ends the store in order; its data stays. */
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

/** Whether a program on this port of 127.0.0.1 takes a connection and, where a `request` is given, answers it within half a second with this `reply`. */
export function responds(port: number, words?: { readonly request: string; readonly reply: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isUp: boolean) => {
      socket.destroy()
      resolve(isUp)
    }
    const socket = connect(port, '127.0.0.1', () => (words === undefined ? settle(true) : socket.write(words.request)))
    socket.setTimeout(500, () => settle(false))
    socket.once('data', (data) => settle(words !== undefined && data.toString().startsWith(words.reply)))
    socket.once('error', () => settle(false))
  })
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

/** Evidence that a process is the store of a data folder: its command line or its working directory names the folder. */
interface OrphanQuery {
  /** File to which the store itself wrote its process id. */
  readonly pidFile: string
  /** Part of the program's name. */
  readonly program: string
  /** Absolute path of the data folder. */
  readonly dir: string
}

/**
 * Ends a store that outlived a crashed start and still uses the data folder. Only a process that is proven to be ours
 * is touched: process ids are reused. Resolves true when one was ended.
 */
async function endOrphan(query: OrphanQuery): Promise<boolean> {
  const pid = readPid(query.pidFile)
  if (pid === null || !isOurs(pid, query)) return false
  signal(pid, 'SIGTERM')
  for (let waited = 0; waited < 10_000; waited += 50) {
    if (!isOurs(pid, query)) return true
    if (waited === 6_000) signal(pid, 'SIGKILL')
    await delay(50)
  }
  throw new Error(`process ${pid} (${query.program}) still holds ${query.dir}; end it and start again`)
}

function readPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8').trim(), 10)
    return Number.isSafeInteger(pid) && pid > 1 ? pid : null
  } catch {
    return null
  }
}

function isOurs(pid: number, { program, dir }: OrphanQuery): boolean {
  const command = commandLine(pid)
  return command?.includes(program) === true && (command.includes(dir) || workingDirectory(pid) === dir)
}

/** Null for a process that has ended, and for a zombie, which has no command line. */
function commandLine(pid: number): string | null {
  try {
    const text =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return text.trim() === '' ? null : text
  } catch {
    return null
  }
}

function workingDirectory(pid: number): string | null {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`)
    const listing = execFileSync('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'], { encoding: 'utf8' })
    return (
      listing
        .split('\n')
        .find((line) => line.startsWith('n'))
        ?.slice(1) ?? null
    )
  } catch {
    return null
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended in between.
  }
}
