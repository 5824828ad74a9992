import { createServer } from 'node:http'
import { errorText } from '#shared/contracts/error-text.ts'
import { within } from '#shared/contracts/within.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
import type { MetricsRegistry } from '#shared/runtime/observability/metrics.ts'

/** Why a process cannot work now, in a few words, or null when this check passes. */
export type ReadinessCheck = () => string | null | Promise<string | null>

export type HealthServer = Awaited<ReturnType<typeof startHealthServer>>

export interface HealthOptions {
  /** 0 = any free port. */
  readonly port: number
  readonly host?: string
  readonly metrics: MetricsRegistry
  /** Faults of this process alone. One without a result, in time or at all, has found no fault: it is reported as `degraded`. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>
  /** Faults that do not keep the process from working, or that all replicas share, reported in `/readyz` next to the reasons. */
  readonly degraded?: Readonly<Record<string, ReadinessCheck>>
  /** Why the process has not started yet; null permanently once it has. Absent = it has. */
  readonly starting?: () => string | null
  /** Loops without progress, with the reason; absent = none is watched. */
  readonly silent?: () => Readonly<Record<string, string>>
  /** Time limit of each check. Default 2 s. */
  readonly checkTimeoutMs?: number
}

/**
 * Serves `/metrics` (Prometheus text), `/livez` (200 while the process and its loops make progress, or 503 with
 * `{"live":false,"silent":{<loop>: <why>}}`; an unavailable store never fails it), `/readyz` (200, or 503 with
 * `{"ready":false,"reasons":{<check>: <why>},"degraded":{…}}`; what all replicas share never fails it) and `/startupz` (503 with the reason until the process has
 * started once, 200 afterwards). Rejects when the port is taken.
 */
export async function startHealthServer(options: HealthOptions) {
  const { metrics, checks, checkTimeoutMs = 2_000 } = options
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    const json = (status: number, body: unknown) => answer(status, 'application/json', JSON.stringify(body))
    const path = request.url?.split('?')[0]
    if (path === '/livez') {
      const silent = options.silent?.() ?? {}
      const live = Object.keys(silent).length === 0
      json(live ? 200 : 503, live ? { live } : { live, silent })
    } else if (path === '/startupz') {
      const reason = options.starting?.() ?? null
      json(reason === null ? 200 : 503, reason === null ? { started: true } : { started: false, reason })
    } else if (path === '/readyz') {
      const both = [checks, options.degraded ?? {}].map((each) => outcomesOf(each, checkTimeoutMs))
      void Promise.all(both).then(([own = NOTHING, shared = NOTHING]) => {
        const ready = Object.keys(own.faults).length === 0
        const degraded = { ...own.open, ...shared.faults, ...shared.open }
        json(ready ? 200 : 503, { ready, reasons: own.faults, degraded })
      })
    } else if (path === '/metrics') {
      metrics.render().then(
        (text) => answer(200, metrics.contentType, text),
        () => json(500, { error: 'metrics could not be collected' }),
      )
    } else json(404, { error: 'unknown path; use /metrics, /livez, /readyz or /startupz' })
  })
  const { port } = await listenOn(server, options.port, options.host ?? '127.0.0.1')
  return {
    /** `http://127.0.0.1:<port>`. */
    url: `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What checks found, and those without a result, with the reason in words. */
interface Outcomes {
  readonly faults: Readonly<Record<string, string>>
  readonly open: Readonly<Record<string, string>>
}

const NOTHING: Outcomes = { faults: {}, open: {} }

async function outcomesOf(checks: Readonly<Record<string, ReadinessCheck>>, timeoutMs: number): Promise<Outcomes> {
  const faults: Record<string, string> = {}
  const open: Record<string, string> = {}
  await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const { fault, silence } = await outcome(check, timeoutMs)
      if (fault !== null) faults[name] = fault
      if (silence !== null) open[name] = silence
    }),
  )
  return { faults, open }
}

interface Outcome {
  readonly fault: string | null
  readonly silence: string | null
}

async function outcome(check: ReadinessCheck, timeoutMs: number): Promise<Outcome> {
  const checked = async (): Promise<Outcome> => ({ fault: await check(), silence: null })
  try {
    return (await within(checked(), timeoutMs)) ?? { fault: null, silence: `no result within ${timeoutMs} ms` }
  } catch (error) {
    return { fault: null, silence: errorText(error) }
  }
}
