import type { RedisEpochRepository } from '#shared/ports/redis-epoch.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'

/** Detects that Redis was wiped or replaced. */
export type RedisEpochWatch = ReturnType<typeof watchRedisEpoch>

const EVERY_MS = 1_000

/**
 * Redis carries a random marker, and the store a copy of it. A Redis that was wiped has none, one that was replaced or rolled
 * back has another: that is logged, counted in `redis_epoch_changes_total` and reported to listeners, within about a second, in
 * every process. Nothing has to be rebuilt, because the sweeps find all work in the store.
 */
export function watchRedisEpoch(
  redis: RedisConnections,
  { random, logger, metrics }: Runtime,
  stored: RedisEpochRepository,
  everyMs = EVERY_MS,
) {
  const key = `${redis.prefix}:life`
  const listeners: (() => void)[] = []
  /** Undefined until the store was read. */
  let known: string | null | undefined
  let running: Promise<void> = Promise.resolve()
  let busy = false

  const current = async (): Promise<string | null> => {
    const found = await redis.producer.get(key)
    if (found !== null) return found
    // Only the first of many processes sets it; all read the previous value.
    await redis.producer.set(key, random.uuid(), 'NX')
    return await redis.producer.get(key)
  }

  const look = async (): Promise<void> => {
    if (!redis.isHealthy()) return
    known ??= await stored.read()
    const now = await current()
    if (now === null || now === known) return
    const isFirst = known === null
    known = now
    if (!isFirst) {
      metrics.count('redis_epoch_changes_total')
      logger.warn({}, 'redis was wiped or replaced; the sweeps find all work in the store')
      for (const listener of listeners) listener()
    }
    await stored.replace(now)
  }

  metrics.count('redis_epoch_changes_total', {}, 0)
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    running = look()
      .catch((error: unknown) => logger.debug({ err: error }, 'the redis epoch could not be read'))
      .finally(() => {
        busy = false
      })
  }, everyMs)
  timer.unref()
  return {
    /** Calls back after each change: values learned from the old Redis are invalid. */
    onChange: (listener: () => void): void => void listeners.push(listener),
    stop: (): Promise<void> => {
      clearInterval(timer)
      return running
    },
  }
}
