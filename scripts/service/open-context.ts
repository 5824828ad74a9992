import type { ServiceContext } from '#services/context.ts'
import type { Config } from '#shared/config/schema.ts'
import { createStoreClock } from '#shared/db/clock.ts'
import { connectDatabase, type Database } from '#shared/db/connect.ts'
import { verifyIndexes } from '#shared/db/migrate.ts'
import { createRedisEpochRepository } from '#shared/db/redis-epoch-repository.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import { watchRedisEpoch } from '#shared/queues/redis-epoch.ts'
import { type HealthServer, startHealthServer } from '#shared/runtime/health.ts'
import { createLiveness, type Liveness } from '#shared/runtime/liveness.ts'
import { createLogger, type LoggerOptions } from '#shared/runtime/logger.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createRandom } from '#shared/runtime/random.ts'

/** Open connections, a log and a health port: all that a process needs around its services. */
export interface OpenContext {
  readonly context: ServiceContext
  readonly health: HealthServer
  /** Turns `/readyz` to 503, so that no new work is routed here while the services stop. */
  drain(): void
  /** Turns `/readyz` to 200; call it when every service of the process has started. */
  ready(): void
  close(): Promise<void>
}

/**
 * Opens everything for a process of that name. Rejects, with nothing left open, when MongoDB cannot be reached or lacks
 * an index. Redis may be down: services work without it and find it when it comes.
 */
export async function openContext(
  name: string,
  config: Config,
  destination?: LoggerOptions['destination'],
): Promise<OpenContext> {
  const logger = createLogger({ name, level: config.logLevel, ...(destination === undefined ? {} : { destination }) })
  const metrics = createMetrics()
  const { mongoUrl, mongoDatabase, redisUrl, redisPrefix } = config.stores
  const undo: (() => Promise<void> | void)[] = []
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const db = await connectDatabase({ url: mongoUrl, name: mongoDatabase, logger })
    undo.push(() => db.close())
    await verifyIndexes(db)
    const clock = await createStoreClock(db, logger)
    undo.push(() => clock.stop())
    const redis = connectRedis({ url: redisUrl, prefix: redisPrefix, logger })
    undo.push(() => redis.close())
    const liveness = watchLoops(db, redis)
    undo.push(liveness.stop)
    const ambient = { clock, random: createRandom(), logger, metrics, pulses: liveness }
    const redisEpoch = watchRedisEpoch(redis, ambient, createRedisEpochRepository(db))
    undo.push(redisEpoch.stop)
    let notReady: string | null = 'starting'
    const checks = {
      process: () => notReady,
      mongo: async () => ((await db.isHealthy()) ? null : 'the primary does not answer'),
    }
    const { port } = config.metrics
    const { silent } = liveness
    const health = await startHealthServer({ port, host: config.api.host, metrics, checks, silent })
    undo.push(() => health.stop())
    return {
      context: { ...ambient, config, db, redis, redisEpoch },
      health,
      ready: () => {
        notReady = null
      },
      drain: () => {
        notReady = 'stopping'
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const STORE_LOOK_EVERY_MS = 5_000

/** Judges the loops of this process, except while a store is away. */
function watchLoops(db: Database, redis: RedisConnections): Liveness {
  let storeAway = false
  const look = async () => {
    storeAway = !(await db.isHealthy())
  }
  const timer = setInterval(() => void look(), STORE_LOOK_EVERY_MS)
  timer.unref()
  const liveness = createLiveness({ isExcused: () => storeAway || !redis.isHealthy() })
  return {
    ...liveness,
    stop: () => {
      clearInterval(timer)
      liveness.stop()
    },
  }
}
