import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** Behaviour of a receiver while faults are injected; afterwards each returns 200. */
export const MANNERS = ['good', 'flaky', 'slow', 'rude'] as const
export type Manner = (typeof MANNERS)[number]

/** A completely received request. */
export interface Arrival {
  readonly endpoint: Manner
  readonly deliveryId: string
  readonly eventId: string
  readonly signature: string
  readonly body: Buffer
  /** When the whole request had arrived, in Unix milliseconds. */
  readonly at: number
  /** When its head had arrived, in milliseconds of the monotonic clock of this process. */
  readonly startedAtMs: number
  /** Just before it was answered or disconnected, by the same clock; until then `startedAtMs`. */
  readonly answeredAtMs: number
  /** Its status; null when it disconnected without a response. */
  readonly status: number | null
}

/** Four merchants' receivers behind proxies. */
export interface Receivers {
  readonly urls: Readonly<Record<Manner, string>>
  readonly links: readonly TcpProxy[]
  readonly arrivals: readonly Arrival[]
  /** From now on every receiver returns 200 at once. */
  calm(): void
  close(): Promise<void>
}

/** Share of requests that a receiver treats badly. */
const BAD_SHARE = 0.15
/** At most twice for one delivery: a third time would mean waiting five minutes for the next attempt. */
const BAD_MAX = 2
const SLOW_MS = 700

/** Starts the receivers; `random` returns numbers from 0 to below 1. Each delivery gets at most `badMax` bad responses. */
export async function startReceivers(random: () => number, badMax = BAD_MAX): Promise<Receivers> {
  const arrivals: Arrival[] = []
  let isCalm = false
  const isBad = (badBefore: number): boolean => !isCalm && badBefore < badMax && random() < BAD_SHARE
  const started = await Promise.all(MANNERS.map((manner) => startOne(manner, arrivals, isBad)))
  return {
    urls: Object.fromEntries(started.map(({ manner, url }) => [manner, url])) as Record<Manner, string>,
    links: started.map(({ link }) => link),
    arrivals,
    calm: () => {
      isCalm = true
    },
    close: async () => {
      await Promise.all(started.map((one) => one.close()))
    },
  }
}

async function startOne(manner: Manner, arrivals: Arrival[], isBadAfter: (badBefore: number) => boolean) {
  const sockets = new Set<Socket>()
  const treatedBadly = new Map<string, number>()
  const server = createServer((request, response) => {
    const startedAtMs = performance.now()
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const header = (name: string): string => String(request.headers[name] ?? '')
      const deliveryId = header('x-webhook-id')
      const badBefore = treatedBadly.get(deliveryId) ?? 0
      const isBad = isBadAfter(badBefore)
      if (isBad) treatedBadly.set(deliveryId, badBefore + 1)
      const status = isBad && manner === 'flaky' ? 503 : isBad && manner === 'rude' ? null : 200
      const arrival = {
        endpoint: manner,
        deliveryId,
        eventId: eventIdOf(Buffer.concat(chunks)),
        signature: header('x-webhook-signature'),
        body: Buffer.concat(chunks),
        at: Date.now(),
        startedAtMs,
        answeredAtMs: startedAtMs,
        status,
      }
      arrivals.push(arrival)
      const answer = (): void => {
        arrival.answeredAtMs = performance.now()
        if (status === null) response.socket?.resetAndDestroy()
        else response.writeHead(status).end('ok')
      }
      if (isBad && manner === 'slow') setTimeout(answer, SLOW_MS)
      else answer()
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const link = await startTcpProxy(() => port)
  return {
    manner,
    url: `http://localhost:${link.port}/${manner}`,
    link,
    close: async () => {
      await link.close()
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function eventIdOf(body: Buffer): string {
  try {
    return String((JSON.parse(body.toString('utf8')) as { id?: unknown }).id)
  } catch {
    return ''
  }
}
