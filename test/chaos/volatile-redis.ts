import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type RedisStore, startRedisStore } from '#dev/embedded/redis-store.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** A separate Redis behind a proxy that may die, lose all data or be replaced by an empty one. */
export interface VolatileRedis {
  readonly url: string
  readonly link: TcpProxy
  /** SIGKILL, and a restart with its append-only file. */
  kill(): Promise<void>
  /** SIGSTOP, and SIGCONT after `ms`. */
  freeze(ms: number): Promise<void>
  /** FLUSHALL. */
  wipe(): Promise<void>
  /** SIGKILL, its folder deleted, and a start without data. */
  replace(): Promise<void>
  /** SIGKILL, without a restart. */
  end(): Promise<void>
  stop(): Promise<void>
}

/** Starts a Redis on an empty folder. */
export async function startVolatileRedis(options: {
  readonly binary: string
  readonly dir: string
}): Promise<VolatileRedis> {
  const dir = join(options.dir, 'redis')
  const start = (preferredPort: number) => startRedisStore({ binary: options.binary, dir, preferredPort })
  let store: RedisStore = await start(0)
  const link = await startTcpProxy(() => store.port)
  const end = async (): Promise<void> => {
    process.kill(store.pid, 'SIGKILL')
    await store.stop()
  }
  const restart = async (forget: boolean): Promise<void> => {
    const { port } = store
    await end()
    if (forget) rmSync(dir, { recursive: true, force: true })
    store = await start(port)
  }
  return {
    url: `redis://127.0.0.1:${link.port}`,
    link,
    kill: () => restart(false),
    replace: () => restart(true),
    end,
    freeze: async (ms) => {
      process.kill(store.pid, 'SIGSTOP')
      await delay(ms)
      process.kill(store.pid, 'SIGCONT')
    },
    wipe: async () => {
      const redis = new Redis(store.url)
      try {
        await redis.flushall()
      } finally {
        redis.disconnect()
      }
    },
    stop: async () => {
      await link.close()
      await store.stop()
    },
  }
}
