import type { ServiceContext } from '#services/context.ts'
import type { Config } from '#shared/config/schema.ts'
import { createStoreClock, driftFault, type StoreClock } from '#shared/db/connection/clock.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createKeyCanaryRepository } from '#shared/db/installation/key-canary-repository.ts'
import { createRedisEpochRepository } from '#shared/db/installation/redis-epoch-repository.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { verifyIndexes } from '#shared/db/schema/migrate.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import { watchRedisEpoch } from '#shared/queues/redis-epoch.ts'
import { createLogger, type LoggerOptions } from '#shared/runtime/observability/logger.ts'
import { createMetrics, type MetricsRegistry } from '#shared/runtime/observability/metrics.ts'
import { createTracer } from '#shared/runtime/observability/tracer.ts'
import { type HealthServer, startHealthServer } from '#shared/runtime/process/health.ts'
import { createLiveness, type Liveness } from '#shared/runtime/process/liveness.ts'
import { createKeyHasher } from '#shared/runtime/secrets/key-hasher.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox, masterKeyId } from '#shared/runtime/secrets/secret-box.ts'
import { checkKeys } from '#shared/usecases/maintenance/check-keys.ts'
import { connectPatiently } from './connect-store.ts'
import { startBeats } from './start-beats.ts'
import { startCollector } from './start-collector.ts'

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
 * Opens everything for a process of that name. The health port answers from the first moment; while MongoDB cannot be reached
 * it says so and we wait. Rejects, with nothing left open, when MongoDB refuses us or lacks an index. Redis may be down:
 * services work without it and find it when it comes.
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
    const state = createProcessState()
    const health = await startHealthServer({
      port: config.metrics.port,
      host: config.api.host,
      metrics,
      ...state.probes,
    })
    undo.push(() => health.stop())
    const db = await connectPatiently({ url: mongoUrl, name: mongoDatabase, logger }, state.waitFor)
    undo.push(() => db.close())
    await verifyIndexes(db)
    const keys = keyCheckOf(config, db)
    await requireRightKeys(keys)
    const clock = await createStoreClock(db, logger)
    undo.push(() => clock.stop())
    const redis = connectRedis({ url: redisUrl, prefix: redisPrefix, logger })
    undo.push(() => redis.close())
    const liveness = watchStores({ db, redis, clock, metrics })
    undo.push(liveness.stop)
    state.watch({ db, redis, clock, keys, liveness })
    const random = createRandom(clock.now)
    const tracer = config.otelUrl === null ? undefined : createTracer({ url: config.otelUrl, process: name, metrics })
    if (tracer !== undefined) undo.push(tracer.stop)
    const ambient = { clock, random, logger, metrics, pulses: liveness, tracer }
    const redisEpoch = watchRedisEpoch(redis, ambient, createRedisEpochRepository(db))
    undo.push(redisEpoch.stop)
    undo.push(
      startBeats(name, db, ambient, {
        silent: liveness.silent,
        masterKeys: config.reads('PAYMESH_MASTER_KEY') ? config.secrets.masterKey.map(masterKeyId) : [],
      }),
    )
    // Which networks there are is part of the figures; a process that is not given them leaves collecting to the others.
    if (config.reads('PAYMESH_NETWORKS'))
      undo.push(startCollector(db, config.networks, { clock, random, logger, metrics }))
    return {
      context: { ...ambient, config, db, redis, redisEpoch },
      health,
      ready: state.ready,
      drain: state.drain,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** What readiness looks at once the stores are connected. */
interface Watched {
  readonly db: Database
  readonly redis: RedisConnections
  readonly clock: Pick<StoreClock, 'driftMs'>
  /** Which key of this process is not the installation's; null when all are. */
  readonly keys: () => Promise<string | null>
  readonly liveness: Liveness
}

/** What the probes of this process say, from its first moment to its last. */
function createProcessState() {
  let started = false
  let notReady: string | null = 'starting'
  let watched: Watched | null = null
  const mongo = async () => {
    if (watched === null) return 'not connected'
    return (await watched.db.isHealthy()) ? null : 'the primary does not answer'
  }
  const redis = () => (watched?.redis.isHealthy() === false ? 'takes no writes: working from the store alone' : null)
  // Deadlines and lateness use the store's time, but libraries and the log use the machine's.
  const clock = () => (watched === null ? null : driftFault(watched.clock.driftMs))
  // A rotation may end while this process still has the former key alone.
  const keys = atMostEach(KEYS_LOOK_EVERY_MS, async () =>
    // A store that does not answer is the business of its own check.
    watched === null ? null : watched.keys().catch(() => null),
  )
  return {
    probes: {
      checks: { process: () => notReady, mongo: atMostEach(1_000, mongo), clock, keys },
      degraded: { redis },
      starting: () => (started ? null : notReady),
      silent: () => watched?.liveness.silent() ?? {},
    },
    waitFor: (reason: string) => {
      notReady = reason
    },
    watch: (parts: Watched) => {
      watched = parts
      notReady = 'starting'
    },
    ready: () => {
      started = true
      notReady = null
    },
    drain: () => {
      notReady = 'stopping'
    },
  }
}

const KEYS_LOOK_EVERY_MS = 5_000

/** Probes of many watchers cost the store one question in so many milliseconds; a bad answer is not kept. */
function atMostEach(lifeMs: number, check: () => Promise<string | null>): () => Promise<string | null> {
  let wellUntil = 0
  return async () => {
    if (performance.now() < wellUntil) return null
    const answer = await check()
    if (answer === null) wellUntil = performance.now() + lifeMs
    return answer
  }
}

function keyCheckOf({ secrets, reads }: Config, db: Database): () => Promise<string | null> {
  const deps = {
    canary: createKeyCanaryRepository(db),
    sealed: createSealedSecretRepository(db),
    secretBox: reads('PAYMESH_MASTER_KEY') ? createSecretBox(secrets.masterKey) : null,
    hasher: reads('PAYMESH_KEY_PEPPER') ? createKeyHasher(secrets.keyPepper) : null,
  }
  return () => checkKeys(deps)
}

/** Work under a wrong key would seal what nobody else opens and recognise no API key: such a process does not start. */
async function requireRightKeys(keys: () => Promise<string | null>): Promise<void> {
  const fault = await keys()
  if (fault !== null) throw new Error(fault)
}

const STORE_LOOK_EVERY_MS = 5_000

interface Stores {
  readonly db: Database
  readonly redis: RedisConnections
  readonly clock: Pick<StoreClock, 'driftMs'>
  readonly metrics: MetricsRegistry
}

/** Judges the loops of this process, except while a store is away, and tells which store answers it. */
function watchStores({ db, redis, clock, metrics }: Stores): Liveness {
  let storeAway = false
  const look = async () => {
    storeAway = !(await db.isHealthy())
    metrics.gauge('store_up', storeAway ? 0 : 1, { store: 'mongo' })
    metrics.gauge('store_up', redis.isHealthy() ? 1 : 0, { store: 'redis' })
    metrics.gauge('clock_drift_seconds', clock.driftMs / 1_000)
  }
  void look()
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
