import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPaymesh, type Paymesh, type PaymeshOptions } from './create-paymesh.ts'

/** A request as received by the scripted API. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Reaction of the scripted API to one request: a response, a cut connection, or silence. */
export type Step =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly text: string }
  | 'cut'
  | 'hang'

/** A `node:http` server that plays its steps in order, one per request; an extra request gets status 599. */
export interface ScriptedApi {
  readonly seen: readonly SeenRequest[]
  /** Pauses that the client requested, in milliseconds. They take no time. */
  readonly pausesMs: readonly number[]
  play(...steps: readonly Step[]): void
  /** Resolves when the next request has been read. */
  nextRequest(): Promise<void>
  /** A client of this server that draws 0 for randomness. */
  client(options?: Partial<PaymeshOptions>): Paymesh
  close(): Promise<void>
}

/** A success envelope. */
export function ok(data: unknown, meta?: object, status = 200): Step {
  return { status, text: JSON.stringify({ data, ...(meta ? { meta } : {}), error: null, request_id: 'req_ok' }) }
}

/** An error envelope. */
export function fail(status: number, code: string, headers: Record<string, string> = {}, details?: object): Step {
  const error = { code, message: `It says ${code}.`, ...(details ? { details } : {}) }
  return { status, headers, text: JSON.stringify({ data: null, error, request_id: 'req_failed' }) }
}

/** Starts a scripted API on a free loopback port. */
export async function startScriptedApi(): Promise<ScriptedApi> {
  const seen: SeenRequest[] = []
  const pausesMs: number[] = []
  let steps: Step[] = []
  let announce: () => void = () => undefined

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    announce()
    const step = steps.shift() ?? { status: 599, text: 'the script is over' }
    if (step === 'hang') return
    if (step === 'cut') request.socket.destroy()
    else response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers }).end(step.text)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    seen,
    pausesMs,
    play: (...next) => {
      steps = [...next]
      seen.length = 0
      pausesMs.length = 0
    },
    nextRequest: () =>
      new Promise((resolve) => {
        announce = resolve
      }),
    client: (options) =>
      createPaymesh({
        apiKey: 'pm_test_example',
        baseUrl: `http://127.0.0.1:${port}/api/v1`,
        random: () => 0,
        sleep: async (ms, signal) => {
          pausesMs.push(ms)
          signal?.throwIfAborted()
        },
        ...options,
      }),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
