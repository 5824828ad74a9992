import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy whose connections can die without a word, as when a firewall forgets them. */
export interface FreezingProxy {
  readonly port: number
  /**
   * From now on nothing passes on the connections that are open, except on those that ever carried `except`. Both sides
   * stay open; new connections pass. Returns how many were frozen.
   */
  freeze(except: string): number
  close(): Promise<void>
}

/** Forwards to a port of this machine. */
export async function startFreezingProxy(targetPort: number): Promise<FreezingProxy> {
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket; text: string; frozen: boolean }>()
  const proxy = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1')
    const pair = { client, server, text: '', frozen: false }
    pairs.add(pair)
    client.on('data', (chunk) => {
      if (pair.text.length < 100_000) pair.text += chunk.toString('latin1')
      if (!pair.frozen) server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (!pair.frozen) client.write(chunk)
    })
    const end = (): void => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('close', end).on('error', end)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as AddressInfo).port,
    freeze: (except) => {
      const dying = [...pairs].filter((pair) => !pair.text.includes(except))
      for (const pair of dying) pair.frozen = true
      return dying.length
    },
    close: async () => {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      await new Promise<void>((resolve) => proxy.close(() => resolve()))
    },
  }
}
