import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '#dev/embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import { bundled, ROOT } from '#scripts/bundle.mjs'
import { type Environment, environmentFor } from '#scripts/start/environment.ts'
import { type ProcfileLine, readProcfile } from '#scripts/start/procfile.ts'
import type { Doors } from './doors.ts'

/** The processes of one release, run from its folder by its own Procfile. */
export interface Release {
  readonly label: string
  readonly folder: string
  /** Starts every process and lets the doors lead to them. Resolves when all are ready. */
  start(): Promise<void>
  /** Ends one process after the other: first the doors no longer lead there, after `preStopMs` (5 s) SIGTERM. */
  stop(preStopMs?: number): Promise<void>
  /** How many processes were started so far. */
  readonly started: () => number
  /** Names of the metrics that its processes show now. */
  metricNames(): Promise<ReadonlySet<string>>
  /** What went wrong so far: processes that ended although nobody asked them to, or not in order, and errors in their logs. */
  faults(): readonly string[]
}

export interface ReleaseOptions {
  readonly label: string
  readonly folder: string
  readonly environment: Environment
  readonly doors: Doors
  readonly logDir: string
}

const READY_MS = 180_000
const STOP_MS = 20_000
/** As long as the chart waits before it ends a process that takes requests. */
const PRE_STOP_MS = 5_000
const BAD_LEVELS = new Set(['error', 'fatal'])

interface RunningProcess {
  readonly name: string
  readonly child: GuardedChild
  readonly port: number | null
  readonly metricsUrl: string
  isStopping: boolean
}

/** A release whose processes do not run yet. */
export function createRelease(options: ReleaseOptions): Release {
  const { label, folder, doors, logDir } = options
  const running: RunningProcess[] = []
  const faults: string[] = []
  let started = 0
  const logFile = join(logDir, `${label}.log`)
  const end = async (one: RunningProcess): Promise<void> => {
    one.isStopping = true
    await one.child.stop(STOP_MS)
    const { code, signal } = await one.child.exited
    if (code !== 0)
      faults.push(`${label} ${one.name} ended with ${signal ?? `status ${code}`} when it was asked to stop`)
    running.splice(running.indexOf(one), 1)
  }
  return {
    label,
    folder,
    start: async () => {
      // Several processes that bundle at once would each do the work of one.
      if (folder === ROOT) await bundled('scripts/service/main.ts')
      const log = openSync(logFile, 'a')
      for (const line of readProcfile(folder)) {
        const one = await launch(options, line, log)
        running.push(one)
        started += 1
        void one.child.exited.then(({ code, signal }) => {
          if (!one.isStopping) faults.push(`${label} ${one.name} died with ${signal ?? `status ${code}`}`)
        })
      }
      closeSync(log)
      await Promise.all(running.map((one) => ready(one, label, logFile)))
      for (const { name, port } of running) if (port !== null) doors.open(name, port)
    },
    started: () => started,
    stop: async (preStopMs = PRE_STOP_MS) => {
      const served = running.filter(({ port }) => port !== null)
      for (const { name, port } of served) if (port !== null) doors.close(name, port)
      if (served.length > 0) await delay(preStopMs)
      for (const one of [...running].reverse()) await end(one)
    },
    metricNames: async () => {
      const texts = await Promise.all(
        running.map(async ({ metricsUrl }) => (await fetch(`${metricsUrl}/metrics`)).text()),
      )
      return new Set(
        texts.flatMap((text) => [...text.matchAll(/^# TYPE (paymesh_\w+)/gm)].map(([, name]) => name ?? '')),
      )
    },
    faults: () => [...faults, ...loggedErrors(logFile, label)],
  }
}

async function launch(
  { folder, environment, doors }: ReleaseOptions,
  line: ProcfileLine,
  log: number,
): Promise<RunningProcess> {
  const metricsPort = await freePort(0)
  const setting = doors.settingOf(line.name)
  const port = setting === null ? null : await freePort(0)
  // A process of another release declares its own settings: it gets them all and takes what it reads.
  const settings = folder === ROOT ? environmentFor(line.name, environment) : environment
  const child = await startGuarded(line.command, line.args, {
    cwd: folder,
    env: {
      ...systemEnvironment(),
      ...settings,
      ...(setting !== null && { [setting]: String(port) }),
      ...(line.name === 'mailer' && { PAYMESH_MAILBOX_PORT: '0' }),
      PAYMESH_METRICS_PORT: String(metricsPort),
    },
    stdio: ['ignore', log, log],
  })
  return { name: line.name, child, port, metricsUrl: `http://127.0.0.1:${metricsPort}`, isStopping: false }
}

/** Nothing of Paymesh from the environment of the drill: both releases get the same settings. */
function systemEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAYMESH_|MONGO_URL$|REDIS_URL$|CHAINS$|BUNDLE_HOME$)/.test(name),
    ),
  )
}

async function ready({ name, child, metricsUrl }: RunningProcess, label: string, logFile: string): Promise<void> {
  for (const until = Date.now() + READY_MS; Date.now() < until && !child.hasExited(); await delay(100)) {
    try {
      if ((await fetch(`${metricsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok) return
    } catch {
      // Not listening yet.
    }
  }
  throw new Error(
    `${label} ${name} did not become ready:\n${readFileSync(logFile, 'utf8').trim().split('\n').slice(-20).join('\n')}`,
  )
}

/** Each distinct error that the processes of a release logged, with its count. */
function loggedErrors(file: string, label: string): readonly string[] {
  const counts = new Map<string, number>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.trim() === '') continue
    const text = errorText(line)
    if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].map(([text, count]) => `${label} logged ${count} times: ${text}`)
}

/** Null for a line that is no error. A line that is no JSON was written by a crash or by Node itself. */
function errorText(line: string): string | null {
  try {
    const { level, process: name, msg, err, error } = JSON.parse(line)
    if (!BAD_LEVELS.has(level)) return null
    const cause = (err ?? error)?.message
    return `${name}: ${msg}${cause === undefined ? '' : ` (${cause})`}`
  } catch {
    return line.slice(0, 300)
  }
}
