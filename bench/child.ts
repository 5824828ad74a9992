import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'

/** A process of a benchmark, ended by its id. */
export interface Child {
  readonly pid: number | undefined
  /** CPU time used so far in seconds; null where the system does not report it (outside Linux). */
  cpuSeconds(): number | null
  /** Peak memory use, bytes; null as above. */
  peakBytes(): number | null
  /** Its exit status, -1 after a signal; null while it runs. */
  exitStatus(): number | null
  stop(): Promise<void>
}

/** Starts `node …args` and resolves when `isUp` does; stderr is passed on and a death before that, or `withinMs`, rejects. */
export async function startChild(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isUp: () => Promise<boolean>,
  withinMs = 60_000,
): Promise<Child> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const until = Date.now() + withinMs
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
    if (Date.now() > until) throw new Error(`${args.join(' ')} did not come up`)
    await pause(100)
  }
  return {
    exitStatus: () => (child.signalCode === null ? child.exitCode : -1),
    pid: child.pid,
    stop: () => stop(child),
    cpuSeconds: () => cpuSecondsOf(child.pid),
    peakBytes: () => peakBytesOf(child.pid),
  }
}

/** True when something listens on the port. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('connect', () => socket.destroy())
    socket.on('error', () => resolve(false))
  })
}

/** True when a process reports on its health port that it is ready. */
export async function isReady(healthPort: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok
  } catch {
    return false
  }
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Resolves after some milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** CPU time of a process in seconds: utime and stime of /proc/<pid>/stat (proc(5)), in ticks of 1/100 s; null where there is none. */
export function cpuSecondsOf(pid: number | undefined): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return null
  }
}

const peakBytesOf = (pid: number | undefined): number | null => statusBytes(pid, /^VmHWM:\s+(\d+) kB$/m)

/** Memory of a process that is resident now, bytes; null outside Linux. */
export const residentBytesOf = (pid: number | undefined): number | null => statusBytes(pid, /^VmRSS:\s+(\d+) kB$/m)

/** A size in /proc/<pid>/status (proc(5)). */
function statusBytes(pid: number | undefined, line: RegExp): number | null {
  try {
    const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? null : Number(kilobytes) * 1_024
  } catch {
    return null
  }
}
