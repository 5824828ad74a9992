import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { ConnectionFacts } from './egress-connector.ts'

/** Facts about the connection of one request. */
export interface CarriedBy {
  readonly facts: ConnectionFacts
  /** True for the first request on the connection: only that one waited for look-up, connect and TLS. */
  readonly fresh: boolean
  /** `performance.now()` when the request head was written. */
  readonly sentAt: number
}

/** Records which connection carried which request; a request is identified by its body object. */
export type ConnectionLog = ReturnType<typeof createConnectionLog>

const CHANNEL = 'undici:client:sendHeaders'

/**
 * undici does not expose the socket of a request; its diagnostics channel is the documented place that shows both
 * together. Nothing here holds a socket or a body alive.
 */
export function createConnectionLog() {
  const factsBySocket = new WeakMap<object, ConnectionFacts>()
  const used = new WeakSet<object>()
  const carriers = new WeakMap<object, CarriedBy>()
  const onSend = (message: unknown): void => {
    const { request, socket } = message as { request: { body?: unknown }; socket: object }
    const facts = factsBySocket.get(socket)
    if (facts === undefined || typeof request.body !== 'object' || request.body === null) return
    carriers.set(request.body, { facts, fresh: !used.has(socket), sentAt: performance.now() })
    used.add(socket)
  }
  subscribe(CHANNEL, onSend)
  return {
    connected: (socket: Socket, facts: ConnectionFacts): void => {
      factsBySocket.set(socket, facts)
    },
    carrierOf: (body: Uint8Array): CarriedBy | null => carriers.get(body) ?? null,
    close: (): void => {
      unsubscribe(CHANNEL, onSend)
    },
  }
}
