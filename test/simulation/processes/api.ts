import type { IncomingMessage, ServerResponse } from 'node:http'
import { assembleApi } from '#services/api/assemble.ts'
import { type Executor, executeRoute } from '#services/api/middleware/execute.ts'
import { ROUTES } from '#services/api/routes.ts'
import { createListCursor } from '#shared/usecases/requests/list-cursor.ts'
import type { Program } from '../world/supervisor.ts'
import { createSimLimiter } from './limiter.ts'
import { surround } from './surroundings.ts'

/** A request as it comes in from the network. */
export interface SimRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/api/v1`. */
  readonly path: string
  readonly apiKey: string
  readonly idempotencyKey?: string
  readonly body?: string
}

/** What came back on the wire. */
export interface SimResponse {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

/** The `api` process: the routes of the edge with everything behind them; the network and Express are left out. */
export const apiProgram: Program = async (sim, running) => {
  const parts = await surround(sim, running)
  const deps = assembleApi({
    ...parts,
    limiter: createSimLimiter(parts),
    listCursor: createListCursor(new Uint8Array(32).fill(3)),
    urlGuard: { check: async (url) => guardUrl(sim.book.blockedUrls, url) },
    checkAnswers: false,
    trustedProxies: 0,
    publicUrl: 'http://api.test',
    pagesDir: null,
  })
  const routes = ROUTES.map((route) => ({ route, execute: executeRoute(deps, route) }))
  running.handlers.set('http', (request: SimRequest) => {
    for (const { route, execute } of routes) {
      const params = route.method === request.method ? matchPath(route.path, request.path) : null
      if (params !== null) return respondTo(execute, request, params)
    }
    return Promise.reject(new Error(`no route for ${request.method} ${request.path}`))
  })
}

function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = path.split('/')
  const parts = pattern.split('/')
  if (wanted.length !== parts.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    const value = wanted[index] ?? ''
    if (part === '{id}') params['id'] = value
    else if (part !== value) return null
  }
  return params
}

function respondTo(execute: Executor, request: SimRequest, params: Record<string, string>): Promise<SimResponse> {
  const body = Buffer.from(request.body ?? '')
  const incoming = {
    method: request.method,
    url: `/api/v1${request.path}`,
    destroyed: false,
    socket: { remoteAddress: '192.0.2.1' },
    headers: {
      authorization: `Bearer ${request.apiKey}`,
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...(request.idempotencyKey !== undefined && { 'idempotency-key': request.idempotencyKey }),
    },
    params,
    on: (event: string, hear: (chunk?: Buffer) => void) => {
      if (event === 'data') queueMicrotask(() => hear(body))
      if (event === 'end') queueMicrotask(() => queueMicrotask(hear))
    },
  }
  return new Promise((resolve) => {
    let status = 0
    let replayed = false
    const outgoing = {
      headersSent: false,
      destroyed: false,
      writeHead: (code: number, headers: Readonly<Record<string, unknown>>) => {
        status = code
        replayed = headers['Idempotent-Replayed'] === 'true'
      },
      end: (text: string) => resolve({ status, body: text, replayed }),
    }
    void execute(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse)
  })
}

function guardUrl(blocked: ReadonlySet<string>, url: string) {
  return blocked.has(url) ? { ok: false as const, reason: 'address_not_public' as const } : { ok: true as const }
}
