import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MetricsRegistry } from '#shared/runtime/observability/metrics.ts'

/** Why a process cannot work now, in a few words, or null when this check passes. */
export type ReadinessCheck = () => string | null | Promise<string | null>

export interface HealthServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

export interface HealthOptions {
  /** 0 = any free port. */
  readonly port: number
  readonly host?: string
  readonly metrics: MetricsRegistry
  readonly checks: Readonly<Record<string, ReadinessCheck>>
  /** Faults that do not keep the process from working, reported in `/readyz` next to the reasons. */
  readonly degraded?: Readonly<Record<string, ReadinessCheck>>
  /** Why the process has not started yet; null permanently once it has. Absent = it has. */
  readonly starting?: () => string | null
  /** Loops without progress, with the reason; absent = none is watched. */
  readonly silent?: () => Readonly<Record<string, string>>
  /** Time limit of each check; one without a result in time is reported as a reason. Default 2 s. */
  readonly checkTimeoutMs?: number
}

/**
 * Serves `/metrics` (Prometheus text), `/livez` (200 while the process and its loops make progress, or 503 with
 * `{"live":false,"silent":{<loop>: <why>}}`; an unavailable store never fails it), `/readyz` (200, or 503 with
 * `{"ready":false,"reasons":{<check>: <why>},"degraded":{…}}`) and `/startupz` (503 with the reason until the process has
 * started once, 200 afterwards). Rejects when the port is taken.
 */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
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
      const both = [checks, options.degraded ?? {}].map((each) => reasonsOf(each, checkTimeoutMs))
      void Promise.all(both).then(([reasons = {}, degraded]) => {
        const ready = Object.keys(reasons).length === 0
        json(ready ? 200 : 503, { ready, reasons, degraded })
      })
    } else if (path === '/metrics') {
      metrics.render().then(
        (text) => answer(200, metrics.contentType, text),
        () => json(500, { error: 'metrics could not be collected' }),
      )
    } else json(404, { error: 'unknown path; use /metrics, /livez, /readyz or /startupz' })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host ?? '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function reasonsOf(
  checks: Readonly<Record<string, ReadinessCheck>>,
  timeoutMs: number,
): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await outcome(check, timeoutMs)] as const),
  )
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== null))
}

async function outcome(check: ReadinessCheck, timeoutMs: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no result within ${timeoutMs} ms`), timeoutMs)
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}
