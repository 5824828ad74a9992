import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ranges from which Linux (32768 on) and macOS (49152 on) take the local ports of outgoing connections: such a connection
 * could take a port between this search and the start of the process that is to listen on it.
 */
const [FROM, TO] = [15_000, 32_000]
const TRIES = 200
/** Ports that this process was given; none is given twice, because their listeners start later. */
const given = new Set<number>()

/** `preferred` when it is free on 127.0.0.1, otherwise any free port; 0 prefers none. Rejects when none is found. */
export async function freePort(preferred: number): Promise<number> {
  if (preferred !== 0 && (await isFree(preferred))) return preferred
  for (let count = 0; count < TRIES; count += 1) {
    const port = randomInt(FROM, TO)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error('no free TCP port on 127.0.0.1')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
