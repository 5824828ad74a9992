import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A TCP proxy to a store that is far away or overloaded. */
export interface SlowProxy {
  readonly port: number
  /** Bytes per second of each connection's responses from now on; null for no limit, 0 for none at all. */
  limit(bytesPerSecond: number | null): void
  /** No limit at first, and this one from the next request on that contains the text. */
  limitFrom(request: string, bytesPerSecond: number): void
  close(): Promise<void>
}

const TICK_MS = 20

/** Forwards to a port of this machine, without a limit at first. */
export async function startSlowProxy(targetPort: number): Promise<SlowProxy> {
  const open = new Set<Socket>()
  let rate: number | null = null
  let later: { readonly request: string; readonly rate: number } | null = null
  const pass = async (from: Socket, to: Socket): Promise<void> => {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; ) {
        while (rate === 0 && !to.destroyed) await wait(TICK_MS)
        const size = rate === null ? chunk.length : Math.max(1, Math.round((rate * TICK_MS) / 1_000))
        to.write(chunk.subarray(at, at + size))
        at += size
        if (rate !== null) await wait(TICK_MS)
      }
    }
  }
  const proxy = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1')
    const end = (): void => {
      for (const socket of [client, server]) {
        open.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of [client, server]) open.add(socket.on('close', end).on('error', end))
    client.on('data', (chunk: Buffer) => {
      if (later === null || !chunk.includes(later.request)) return
      rate = later.rate
      later = null
    })
    client.pipe(server)
    pass(server, client).catch(end)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as AddressInfo).port,
    limit: (bytesPerSecond) => {
      rate = bytesPerSecond
      later = null
    },
    limitFrom: (request, bytesPerSecond) => {
      rate = null
      later = { request, rate: bytesPerSecond }
    },
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => proxy.close(() => resolve()))
    },
  }
}
