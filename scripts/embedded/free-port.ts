import { createServer } from 'node:net'

/** `preferred` when nothing listens there on 127.0.0.1, else a free port that the system picks; 0 always picks. */
export async function freePort(preferred: number): Promise<number> {
  return (preferred === 0 ? null : await tryPort(preferred)) ?? (await tryPort(0)) ?? Promise.reject(noPort())
}

function noPort(): Error {
  return new Error('no free TCP port on 127.0.0.1')
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? null) : null))
    })
  })
}
