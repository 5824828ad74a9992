import { responds, type StoreSettings, startStoreProcess } from './store-process.ts'

/** A running Redis. */
export type RedisStore = Awaited<ReturnType<typeof startRedisStore>>

/** Runs an append-only Redis on a persistent folder. Resolves when it responds, with its file replayed. */
export async function startRedisStore(settings: StoreSettings) {
  const store = await startStoreProcess({
    ...settings,
    program: 'redis-server',
    args: (port, pidFile) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', settings.dir, '--pidfile', pidFile],
      ...['--daemonize', 'no', '--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'],
    ],
    // While Redis loads its file it returns `-LOADING`.
    isUp: (port) => responds(port, { request: 'PING\r\n', reply: '+PONG' }),
  })
  return { ...store, url: `redis://127.0.0.1:${store.port}` }
}
