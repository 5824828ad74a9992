import type { Config } from '#shared/config/schema.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRedisEpochRepository } from '#shared/db/installation/redis-epoch-repository.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { createMemorySignals } from '#shared/queues/memory/memory-signals.ts'
import type { RedisFigures } from '#shared/queues/redis/redis-servers.ts'
import type { RedisEpochWatch } from '#shared/queues/redis-epoch.ts'
import type { Signals } from '#shared/queues/signals.ts'

/** The open signals of a process. */
export interface OpenSignals {
  readonly signals: Signals
  /** Null where wake-ups stay in memory. */
  readonly redis: {
    /** Whether Redis takes and delivers wake-ups. */
    isHealthy(): boolean
    /** Role and memory of the server; null while it does not answer. */
    figures(): Promise<RedisFigures | null>
    /** Why it does not, as the rest of a sentence that begins with "Redis"; null when it does. */
    fault(): string | null
    /** Holds what was issued, outside the database. */
    readonly markPlace: MarkPlace
    /** The other installation that uses this prefix; null when this one does, or Redis does not answer. */
    foreignOwner(installation: string): Promise<string | null>
    /** Watches, on the database, whether Redis was wiped or replaced. */
    watchEpoch(db: Database, runtime: Runtime): RedisEpochWatch
  } | null
  close(): Promise<void>
}

/** Signals over Redis for a process that declares `REDIS_URL`, in memory for one that does not. Redis may be down. */
export async function openSignals(config: Config, runtime: Pick<Runtime, 'logger' | 'metrics'>): Promise<OpenSignals> {
  if (!config.reads('REDIS_URL'))
    return { signals: createMemorySignals(runtime.metrics), redis: null, close: () => Promise.resolve() }
  const { redisUrl, redisPrefix } = config.stores
  if (redisUrl === null) throw new Error('REDIS_URL is not set')
  // Loaded here only: a process without Redis keeps none of these libraries in memory.
  const [
    { connectRedis },
    { createRedisMarkPlace },
    { foreignOwner },
    { createRedisSignals },
    { watchRedisEpoch },
    { readRedisFigures },
  ] = await Promise.all([
    import('#shared/queues/connection.ts'),
    import('#shared/queues/redis-mark-place.ts'),
    import('#shared/queues/redis-owner.ts'),
    import('#shared/queues/redis-signals.ts'),
    import('#shared/queues/redis-epoch.ts'),
    import('#shared/queues/redis/redis-servers.ts'),
  ])
  const redis = connectRedis({ url: redisUrl, prefix: redisPrefix, logger: runtime.logger })
  return {
    signals: createRedisSignals(redis),
    redis: {
      isHealthy: redis.isHealthy,
      figures: () => readRedisFigures(redis),
      fault: redis.fault,
      markPlace: createRedisMarkPlace(redis),
      foreignOwner: (installation) => foreignOwner(redis, installation),
      watchEpoch: (db, full) => watchRedisEpoch(redis, full, createRedisEpochRepository(db)),
    },
    close: () => redis.close(),
  }
}
