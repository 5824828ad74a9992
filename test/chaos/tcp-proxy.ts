import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Faults of a proxied link. `cut_request` drops the connection after some bytes from the client, `cut_reply`
 * forwards the request and drops the connection before the first byte of the response: the sender cannot know
 * whether it was executed.
 */
export type LinkFault =
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'blackhole' }
  | { readonly kind: 'cut_request'; readonly afterBytes: number }
  | { readonly kind: 'cut_reply' }
  | { readonly kind: 'half_close' }

/** A link between two programs with injectable faults. */
export interface TcpProxy {
  readonly port: number
  /** Applies to open and new connections, until `heal`. */
  fail(fault: LinkFault): void
  /** New connections work again; those in a black hole are dropped, so that both ends notice. */
  heal(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

/** Listens on a free loopback port and forwards bytes to `targetPort()`, which is called for each connection. */
export async function startTcpProxy(targetPort: () => number): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  let fault: LinkFault | null = null

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (fault?.kind === 'reset') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect({ port: targetPort(), host: '127.0.0.1', allowHalfOpen: true })
    const pair = { client, server: upstream }
    pairs.add(pair)
    client.setNoDelay(true)
    upstream.setNoDelay(true)
    passOn(pair, 'request', () => fault)
    passOn(pair, 'reply', () => fault)
    const end = (): void => {
      pairs.delete(pair)
      drop(pair)
    }
    for (const socket of [client, upstream]) {
      socket.on('error', end)
      socket.on('close', end)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    port: (server.address() as AddressInfo).port,
    fail: (next) => {
      fault = next
      if (next.kind === 'reset') for (const pair of pairs) drop(pair)
      if (next.kind === 'half_close') for (const { client } of pairs) client.end()
    },
    heal: () => {
      if (fault?.kind === 'blackhole' || fault?.kind === 'half_close') for (const pair of pairs) drop(pair)
      fault = null
    },
    close: async () => {
      for (const pair of pairs) drop(pair)
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function passOn(pair: Pair, direction: 'request' | 'reply', current: () => LinkFault | null): void {
  const [from, to] = direction === 'request' ? [pair.client, pair.server] : [pair.server, pair.client]
  let passed = 0
  from.on('data', (chunk: Buffer) => {
    const fault = current()
    if (fault?.kind === 'blackhole') return
    if (fault?.kind === 'cut_reply' && direction === 'reply') {
      drop(pair)
      return
    }
    if (fault?.kind === 'cut_request' && direction === 'request') {
      passed += chunk.length
      if (passed > fault.afterBytes) {
        to.write(chunk.subarray(0, Math.max(0, chunk.length - (passed - fault.afterBytes))), () => drop(pair))
        return
      }
    }
    if (fault?.kind === 'latency') setTimeout(() => to.destroyed || to.write(chunk), fault.ms)
    else if (!to.write(chunk)) pauseUntilDrained(from, to)
  })
  from.on('end', () => to.end())
}

function pauseUntilDrained(from: Socket, to: Socket): void {
  from.pause()
  to.once('drain', () => from.resume())
}

function drop({ client, server }: Pair): void {
  client.resetAndDestroy()
  server.resetAndDestroy()
}
