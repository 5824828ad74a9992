import type { Report } from './binary-cache.ts'
import { responds, type StoreProcess, startStoreProcess } from './store-process.ts'

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
    // While Redis loads its file it returns `-LOADING`.
    isUp: (port) => responds(port, { request: 'PING\r\n', reply: '+PONG' }),
    ...(report && { report }),
  })
  return { ...store, url: `redis://127.0.0.1:${store.port}` }
}
