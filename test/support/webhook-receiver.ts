import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** One request as it arrived. */
export interface ReceivedRequest {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Raw bytes. */
  readonly body: Buffer
  /** `Date.now()` when the body was complete. */
  readonly receivedAt: number
  /** Number of the connection that carried it, from 1. */
  readonly connection: number
}

/** What the receiver does with a request. `status` may come late and may be long; the others misbehave for ever. */
export type ReceiverAnswer =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly delayMs?: number
      readonly body?: string | Buffer
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Sends the head at once and then one byte per interval. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** Closes the connection without an answer. */
  | { readonly kind: 'reset' }
  /** Sends bytes without end, as fast as they are taken. */
  | { readonly kind: 'flood' }

/** A merchant's webhook receiver: a real HTTP server on a random loopback port. */
export interface WebhookReceiver {
  /** `http://localhost:<port>/hook` */
  readonly url: string
  readonly port: number
  /** In order of arrival. */
  readonly requests: readonly ReceivedRequest[]
  /** Connections opened so far, whether or not a request came. */
  readonly connections: () => number
  /** Bytes of the answers that were taken from us so far. */
  readonly bytesSent: () => number
  /** Answers all following requests so; a function sees each request first. The start is status 200. */
  answer(next: ReceiverAnswer | ((request: ReceivedRequest) => ReceiverAnswer)): void
  /** Resolves with the first match among the requests so far and to come; rejects after `timeoutMs` (10 s). */
  waitFor(predicate: (request: ReceivedRequest) => boolean, timeoutMs?: number): Promise<ReceivedRequest>
  /** Resolves as soon as this many requests have come. */
  waitForCount(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>
  close(): Promise<void>
}

interface Waiter {
  readonly check: () => boolean
}

const DEFAULT_WAIT_MS = 60_000

/** Starts a receiver that answers 200 until told otherwise. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const requests: ReceivedRequest[] = []
  const sockets = new Map<Socket, number>()
  const waiters = new Set<Waiter>()
  const timers = new Set<NodeJS.Timeout>()
  let opened = 0
  let sentBytes = 0
  let next: (request: ReceivedRequest) => ReceiverAnswer = () => ({ kind: 'status', status: 200 })

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const request: ReceivedRequest = {
        path: incoming.url ?? '/',
        method: incoming.method ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks),
        receivedAt: Date.now(),
        connection: sockets.get(incoming.socket) ?? 0,
      }
      requests.push(request)
      for (const waiter of waiters) if (waiter.check()) waiters.delete(waiter)
      reply(next(request), response, timers)
    })
  })
  server.keepAliveTimeout = 30_000
  server.on('connection', (socket) => {
    opened += 1
    sockets.set(socket, opened)
    // A sender that cuts us off is part of the game.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sentBytes += socket.bytesWritten
      sockets.delete(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const wait = <T>(find: () => T | undefined, what: string, timeoutMs: number): Promise<T> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.delete(waiter)
        reject(new Error(`${what} did not come within ${timeoutMs} ms; ${requests.length} requests came`))
      }, timeoutMs)
      const waiter: Waiter = {
        check: () => {
          const found = find()
          if (found === undefined) return false
          clearTimeout(timer)
          resolve(found)
          return true
        },
      }
      if (!waiter.check()) waiters.add(waiter)
    })

  return {
    url: `http://localhost:${port}/hook`,
    port,
    requests,
    connections: () => opened,
    bytesSent: () => [...sockets.keys()].reduce((sum, socket) => sum + socket.bytesWritten, sentBytes),
    answer: (answer) => {
      next = typeof answer === 'function' ? answer : () => answer
    },
    waitFor: (predicate, timeoutMs = DEFAULT_WAIT_MS) =>
      wait(() => requests.find(predicate), 'the awaited request', timeoutMs),
    waitForCount: (count, timeoutMs = DEFAULT_WAIT_MS) =>
      wait(() => (requests.length >= count ? requests : undefined), `request number ${count}`, timeoutMs),
    close: async () => {
      for (const timer of timers) clearInterval(timer)
      for (const socket of sockets.keys()) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function reply(answer: ReceiverAnswer, response: ServerResponse, timers: Set<NodeJS.Timeout>): void {
  if (answer.kind === 'hang') return
  if (answer.kind === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  if (answer.kind === 'drip') {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('.')
    timers.add(setInterval(() => response.write('.'), answer.everyMs))
    return
  }
  if (answer.kind === 'flood') {
    response.writeHead(200, { 'content-type': 'text/plain' })
    const block = Buffer.alloc(65_536, 'x')
    const pour = (): void => {
      while (!response.destroyed && response.write(block));
    }
    response.on('drain', pour)
    pour()
    return
  }
  const send = (): void => {
    response.writeHead(answer.status, answer.headers).end(answer.body ?? '')
  }
  if (answer.delayMs === undefined) send()
  else timers.add(setTimeout(send, answer.delayMs))
}
