import { connect } from 'node:net'
import type { Report } from './binary-cache.ts'
import { type StoreProcess, startStoreProcess } from './store-process.ts'

export interface RedisStore extends StoreProcess {
  readonly url: string
}

/** Runs an append-only Redis on a persistent folder. Resolves when it responds, with its file replayed. */
export async function startRedisStore(options: {
  readonly binary: string
  readonly dir: string
  readonly preferredPort: number
  readonly report?: Report
}): Promise<RedisStore> {
  const { binary, dir, preferredPort, report } = options
  const store = await startStoreProcess({
    program: 'redis-server',
    binary,
    dir,
    preferredPort,
    args: (port, pidFile) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--pidfile', pidFile, '--daemonize', 'no'],
      ...['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'],
    ],
    isUp: pings,
    ...(report && { report }),
  })
  return { ...store, url: `redis://127.0.0.1:${store.port}` }
}

/** While Redis loads its file it returns `-LOADING`. */
function pings(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (up: boolean) => {
      socket.destroy()
      resolve(up)
    }
    socket.setTimeout(500, () => settle(false))
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG')))
    socket.once('error', () => settle(false))
  })
}
