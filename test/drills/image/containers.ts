import { execFile } from 'node:child_process'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '#dev/embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import { type Environment, environmentFor } from '#scripts/start/environment.ts'
import type { ProcfileLine } from '#scripts/start/procfile.ts'
import type { CommandLine, CommandOutcome } from '../command-line.ts'
import type { Buildah } from './buildah.ts'

/** Every line of the Procfile starts Node; the image has its own. */
const PROGRAM = 'node'
const READY_MS = 240_000
const STOP_MS = 30_000
/** Where a container sees the folder that its programs write to. */
const MOUNT = '/drill'

/** A process of the Procfile that runs in a container. */
export interface ContainerProcess {
  readonly name: string
  readonly metricsPort: number
  readonly child: GuardedChild
}

/** Runs programs in a container to their end. */
export type RunInside = (env: Environment, program: readonly string[]) => Promise<CommandOutcome>

/**
 * Programs write what they print to files in a folder of this machine: on a busy machine buildah loses the output of a program that
 * ends at once.
 */
export function createRunInside({ command }: Buildah, container: string, dir: string): RunInside {
  const folder = join(dir, 'output')
  mkdirSync(folder)
  // The image's user has no account here.
  chmodSync(folder, 0o777)
  let count = 0
  return async (env, program) => {
    count += 1
    const [out, err] = [`${count}.out`, `${count}.err`]
    const script = `exec "$@" >${MOUNT}/${out} 2>${MOUNT}/${err}`
    const [file = '', ...args] = command(container, {
      env,
      program: ['sh', '-c', script, 'sh', ...program],
      volumes: { [folder]: MOUNT },
    })
    const status = await new Promise<number>((resolve) => {
      execFile(file, args, (error) => resolve(typeof error?.code === 'number' ? error.code : error === null ? 0 : 1))
    })
    const read = (name: string): string =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
    return { status, stdout: read(out), stderr: read(err) }
  }
}

/** The image's `paymesh`, on the installation that the settings name. */
export function commandLineInside(runInside: RunInside, env: Environment): CommandLine {
  const run = (...args: readonly string[]): Promise<CommandOutcome> =>
    runInside(env, [PROGRAM, 'scripts/paymesh.mjs', ...args])
  return {
    run,
    json: async <T>(...args: readonly string[]) => {
      const { status, stdout, stderr } = await run(...args, '--json')
      if (status !== 0) throw new Error(`paymesh ${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
      return JSON.parse(stdout) as T
    },
  }
}

/** Starts a process of the Procfile in the container, with the settings declared for it, and waits until it is ready. */
export async function startInside(
  { command }: Buildah,
  container: string,
  options: { readonly line: ProcfileLine; readonly environment: Environment; readonly logDir: string },
): Promise<ContainerProcess> {
  const { line, environment, logDir } = options
  const metricsPort = await freePort(0)
  const env = { ...environmentFor(line.name, environment), PAYMESH_METRICS_PORT: String(metricsPort) }
  const [file = '', ...args] = command(container, { env, program: [PROGRAM, ...line.args] })
  const logFile = join(logDir, `${line.name}.log`)
  const log = openSync(logFile, 'a')
  const child = await startGuarded(file, args, { stdio: ['ignore', log, log] })
  closeSync(log)
  for (const until = Date.now() + READY_MS; Date.now() < until && !child.hasExited(); await delay(200)) {
    const ready = await fetch(`http://127.0.0.1:${metricsPort}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return { name: line.name, metricsPort, child }
  }
  const last = readFileSync(logFile, 'utf8').trim().split('\n').slice(-20).join('\n')
  await child.stop(STOP_MS)
  throw new Error(`${line.name} did not become ready in its container:\n${last}`)
}

/**
 * Asks a process to end as an orchestrator does, which signals the process inside and not the tool around it (buildah would kill it).
 * Returns what was wrong with its end; empty when it ended in order.
 */
export async function endInside({ name, child }: ContainerProcess): Promise<readonly string[]> {
  process.kill(innermost(child.pid), 'SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  const { code, signal } = await child.exited
  clearTimeout(timer)
  return code === 0 ? [] : [`${name} ended with ${signal ?? `status ${code}`} when it was asked to stop`]
}

/** The process at the end of a chain of only children; each of a program's threads lists those that it started. */
function innermost(pid: number): number {
  const threads = `/proc/${pid}/task`
  const children = readdirSync(threads).map((thread) => readFileSync(`${threads}/${thread}/children`, 'utf8').trim())
  const child = children.find((text) => text !== '')?.split(' ')[0]
  return child === undefined ? pid : innermost(Number(child))
}
