import { setTimeout as delay } from 'node:timers/promises'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import { ROOT } from '#scripts/bundle.mjs'
import { isSettingName } from '#shared/config/process-settings.ts'
import type { Environment } from './environment.ts'
import type { ProcfileLine } from './procfile.ts'

const READY_MS = 30_000
const STOP_MS = 15_000
const BACKOFF_MS = 250
const BACKOFF_MAX_MS = 5_000
/** A process that lived this long did not fail at its start, so it may be restarted at once. */
const SETTLED_MS = 10_000

/** One Procfile line that is kept running. */
export type SupervisedProcess = Awaited<ReturnType<typeof superviseProcess>>

export interface SupervisionOptions {
  readonly line: ProcfileLine
  readonly environment: Environment
  readonly metricsPort: number
  /** Descriptor for both outputs of the process. */
  readonly log: number
  /** With false a dead process stays ended until `restart`. */
  readonly keepAlive: boolean
  readonly report: (line: string) => void
  /** Called after each start and each end. */
  readonly changed: () => void
}

/**
 * Starts a process and restarts it, with growing pauses, whenever it ends without a request. Each end is
 * reported in one visible line.
 */
export async function superviseProcess(options: SupervisionOptions) {
  const { line, metricsPort, report } = options
  const url = `http://127.0.0.1:${metricsPort}`
  let child: GuardedChild | null = null
  let stopping = false
  let failures = 0
  let turn: Promise<unknown> = Promise.resolve()

  /** Starts and ends take place one after the other: one that starts beside another finds its port taken, or outlives the stop. */
  function inTurn(step: () => Promise<void>): Promise<void> {
    const result = turn.then(step)
    turn = result.catch(() => undefined)
    return result
  }

  async function launch(): Promise<void> {
    const startedAt = Date.now()
    const own = await startGuarded(line.command, line.args, {
      cwd: ROOT,
      env: { ...systemEnvironment(), ...options.environment, PAYMESH_METRICS_PORT: String(metricsPort) },
      stdio: ['ignore', options.log, options.log],
    })
    child = own
    options.changed()
    void own.exited.then(({ code, signal }) => ended(own, signal ?? `status ${code}`, Date.now() - startedAt))
  }

  async function ended(own: GuardedChild, how: string, livedMs: number): Promise<void> {
    if (child !== own) return
    child = null
    options.changed()
    if (stopping) return
    failures = livedMs < SETTLED_MS ? failures + 1 : 0
    report(`✗ ${line.name} ended (${how})${options.keepAlive ? ', restarting it' : ''}`)
    if (!options.keepAlive) return
    await delay(Math.min(BACKOFF_MS * 2 ** failures, BACKOFF_MAX_MS))
    await inTurn(async () => {
      // A restart on demand may have been faster, and the stack may be stopping.
      if (child === null && !stopping) await launch()
    })
  }

  async function ready(withinMs = READY_MS): Promise<void> {
    for (const until = Date.now() + withinMs; Date.now() < until; await delay(25)) {
      if (child !== null && (await answersReady(url))) return
      if (stopping) throw new Error(`${line.name} is being stopped`)
      if (child === null && !options.keepAlive) break
    }
    throw new Error(`${line.name} did not become ready; its log has the reason`)
  }

  async function end(): Promise<void> {
    const own = child
    child = null
    await own?.stop(STOP_MS)
  }

  await launch()
  return {
    name: line.name,
    metricsUrl: `${url}/metrics`,
    /** Null between an end and the next start. */
    pid: () => child?.pid ?? null,
    kill: (signal: NodeJS.Signals) => void child?.kill(signal),
    /** Resolves when the process responds to `/readyz`; rejects after `withinMs`, 30 s if absent, and when the process is being stopped. */
    ready,
    /** Ends the process if it runs, starts another and waits until it is ready; rejects when the process is being stopped. */
    async restart() {
      await inTurn(async () => {
        await end()
        if (!stopping) await launch()
      })
      await ready()
    },
    async stop() {
      stopping = true
      await inTurn(end)
    },
  }
}

/** Variables that a program needs from the current environment; without settings of Paymesh, which come only from the installation. */
function systemEnvironment(): Environment {
  const own = Object.entries(process.env).filter(
    ([key, value]) => value !== undefined && !key.startsWith('PAYMESH_') && !isSettingName(key),
  )
  return Object.fromEntries(own as [string, string][])
}

async function answersReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}
