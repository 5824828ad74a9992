import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/**
 * What becomes of one request: it passes, its connection is cut while the API works on it, its answer is lost, ends in its headers or
 * in the middle or takes three seconds, a part in each tenth of one, or something else answers in place of the API.
 */
export type Outcome = 'pass' | 'cut_while_working' | 'lose_answer' | 'headers' | 'half' | 'drip' | PlannedAnswer

/** An answer that does not come from the API. */
export interface PlannedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What the API answered behind the proxy, whether the client learnt of it or not. */
export interface HiddenAnswer {
  readonly operation: string
  readonly status: number
  readonly replayed: boolean
}

/** A network that fails on command between a client and the API. */
export interface LossyProxy {
  readonly baseUrl: string
  /** Answers of the API in order of their arrival at the proxy. */
  readonly answers: readonly HiddenAnswer[]
  /** Idempotency keys of the requests since the last plan, null for those without one. */
  readonly keys: readonly (string | null)[]
  /** How many requests came since the last plan. */
  requests(): number
  /** Fates of the requests to come; those after them pass. Forgets what came before. */
  plan(...outcomes: readonly Outcome[]): void
  close(): Promise<void>
}

/** Starts a proxy on a free loopback port in front of the API at `target`, its path prefix included. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const prefix = new URL(target).pathname
  const answers: HiddenAnswer[] = []
  const keys: (string | null)[] = []
  let outcomes: Outcome[] = []
  let requests = 0

  const forward = async (request: IncomingMessage): Promise<Response> => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const path = (request.url ?? '').slice(prefix.length)
    const kept = ['authorization', 'content-type', 'idempotency-key'].flatMap((name) => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value] as [string, string]] : []
    })
    const method = request.method ?? ''
    const answer = await fetch(target + path, { method, headers: kept, ...(body !== '' && { body }) })
    const replayed = answer.headers.get('idempotent-replayed') === 'true'
    answers.push({ operation: `${method} ${path}`, status: answer.status, replayed })
    return answer
  }

  const server = createServer((request, response) => {
    const outcome = outcomes.shift() ?? 'pass'
    requests += 1
    keys.push(request.headers['idempotency-key']?.toString() ?? null)
    const relay = async (): Promise<void> => {
      if (typeof outcome === 'object') {
        for await (const _chunk of request);
        response.writeHead(outcome.status, { 'content-type': 'application/json', ...outcome.headers }).end(outcome.text)
        return
      }
      if (outcome === 'cut_while_working') request.once('end', () => request.socket.destroy())
      const answer = await forward(request)
      const text = await answer.text()
      const length = String(Buffer.byteLength(text))
      const replayed = answer.headers.get('idempotent-replayed')
      const headers = {
        ...{ 'content-type': 'application/json', 'content-length': length },
        ...(replayed !== null && { 'idempotent-replayed': replayed }),
      }
      if (outcome === 'pass') response.writeHead(answer.status, headers).end(text)
      else if (outcome === 'headers')
        request.socket.end(`HTTP/1.1 ${answer.status} Created\r\nContent-Type: application/json\r\n`)
      else if (outcome === 'half')
        response.writeHead(answer.status, headers).write(text.slice(0, text.length / 2), () => request.socket.destroy())
      else if (outcome === 'drip') {
        response.writeHead(answer.status, headers)
        const part = Math.ceil(text.length / 30)
        for (let at = 0; at < text.length && !response.destroyed; at += part) {
          response.write(text.slice(at, at + part))
          await setTimeout(100)
        }
        response.end()
      } else request.socket.destroy()
    }
    relay().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    answers,
    keys,
    requests: () => requests,
    plan: (...next) => {
      outcomes = [...next]
      answers.length = 0
      keys.length = 0
      requests = 0
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
