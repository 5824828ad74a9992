import type { AddressInfo, Server } from 'node:net'

/** Lets a server listen; returns its address. Rejects when the port is taken or must not be used. */
export async function listenOn(server: Server, port: number, host: string): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return server.address() as AddressInfo
}
