import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { NetworkSettings } from '#shared/config/network-settings.ts'
import type { Config } from '#shared/config/schema.ts'
import { createStoreClock, DRIFT_MAX_MS, driftFault, type StoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase, type Database, type DatabaseOptions } from '#shared/db/connection/connect.ts'
import { StoreAway } from '#shared/db/connection/store-away.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createKeyCanaryRepository } from '#shared/db/installation/key-canary-repository.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { createBacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import { verifyIndexes } from '#shared/db/schema/migrate.ts'
import type { ChainPaces } from '#shared/ports/chain-catalog.ts'
import type { Logger, Runtime } from '#shared/ports/runtime.ts'
import type { RedisFigures } from '#shared/queues/redis/redis-servers.ts'
import { foreignOwnerText } from '#shared/queues/redis-owner.ts'
import { createLogger, type LoggerOptions } from '#shared/runtime/observability/logger.ts'
import { createMetrics, type MetricsRegistry } from '#shared/runtime/observability/metrics.ts'
import { createTracer, type RunningTracer } from '#shared/runtime/observability/tracer.ts'
import { createCommonPauses } from '#shared/runtime/process/common-pauses.ts'
import { markPlacesOf } from '#shared/runtime/process/folder-mark-place.ts'
import { startHealthServer } from '#shared/runtime/process/health.ts'
import { createLiveness, type Liveness } from '#shared/runtime/process/liveness.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createKeyHasher, createSecretBox, masterKeyId } from '#shared/runtime/secrets/secret-box.ts'
import { checkKeys } from '#shared/usecases/maintenance/check-keys.ts'
import { createBacklogCollector } from '#shared/usecases/maintenance/collect-backlogs.ts'
import { createChainPaces } from '#shared/usecases/networks/chain-paces.ts'
import { createUsageCounter, type UsageCounter } from '#shared/usecases/networks/usage-counter.ts'
import { type OpenSignals, openSignals } from './open-signals.ts'
import { repeat } from './repeat.ts'
import { startHeartbeats } from './start-heartbeat.ts'
import { versionHere } from './version-here.ts'

/**
 * Opens everything for a process of that name. The health port responds from the first moment; while MongoDB cannot be reached
 * it reports that and the process waits. Rejects, with nothing left open, when MongoDB refuses the connection or lacks an index. Redis may be down:
 * services work without it and reconnect when it returns.
 */
export async function openContext(name: string, config: Config, destination?: LoggerOptions['destination']) {
  const logger = createLogger({ name, version: versionHere(), level: config.logLevel, destination })
  const registry = createMetrics()
  const { mongoUrl, mongoDatabase } = config.stores
  const undo: (() => Promise<void> | void)[] = []
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const state = createProcessState()
    const health = await startHealthServer({
      port: config.metrics.port,
      host: config.api.host,
      metrics: registry,
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
    const usage = createUsageCounter(registry, clock, createNodePrices(networksOf(config)))
    // Whatever calls a node counts with these.
    const metrics = { ...registry, ...usage.metrics }
    undo.push(startUsageWriter(db, usage, logger))
    const { signals, redis, close: closeSignals } = await openSignals(config, { logger, metrics })
    undo.push(closeSignals)
    const liveness = watchStores({ db, redis, clock, metrics })
    undo.push(liveness.stop)
    state.watch({ db, redis, clock, keys, liveness })
    const random = createRandom(clock.now)
    const tracer = openTracer(name, config, metrics)
    if (tracer !== undefined) undo.push(tracer.stop)
    const runtime = { clock, random, logger, metrics, pauses: createCommonPauses(), pulses: liveness, tracer }
    state.watchOwner(await requireOwnPrefix(config, db, redis))
    const redisEpoch = redis?.watchEpoch(db, runtime)
    if (redisEpoch !== undefined) undo.push(redisEpoch.stop)
    undo.push(
      startHeartbeats(name, db, runtime, {
        silent: liveness.silent,
        masterKeys: config.reads('PAYMESH_MASTER_KEY') ? config.secrets.masterKey.map(masterKeyId) : [],
      }),
    )
    const paces = await openPaces(db, logger, undo)
    // The figures need the list of networks; a process without it leaves collecting to the others.
    if (config.reads('PAYMESH_NETWORKS'))
      undo.push(startCollector(db, { networks: config.networks, paces }, { clock, random, logger, metrics }))
    return {
      context: {
        ...runtime,
        config,
        db,
        signals,
        markPlaces: markPlacesOf(redis?.markPlace ?? null, marksDirOf(config)),
        paces,
        ...(redisEpoch === undefined ? {} : { redisEpoch }),
      },
      health,
      /** Loops without progress, with the reason in words. */
      silent: liveness.silent,
      /** Turns `/readyz` to 200; call it when every service of the process has started. */
      ready: state.ready,
      /** Turns `/readyz` to 503, so that no new work is routed here while the services stop. */
      drain: state.drain,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Undefined where nothing is traced. */
function openTracer(name: string, { traces }: Config, metrics: MetricsRegistry): RunningTracer | undefined {
  const { url, headers, sampler, share } = traces
  if (url === null) return undefined
  const host = hostname()
  // A container has its own host name; processes beside each other have their own numbers.
  const instance = { id: `${host}:${process.pid}`, host, version: versionHere() }
  return createTracer({ url, headers, sampling: { sampler, share }, process: name, instance, metrics })
}

/** A process that is given no networks calls no node. */
const networksOf = (config: Config): Config['networks'] =>
  config.reads('PAYMESH_NETWORKS') ? config.networks : { live: {}, test: {} }

const marksDirOf = ({ reads, stores }: Config): string | null => (reads('PAYMESH_MARKS_DIR') ? stores.marksDir : null)

/** Throws when another installation uses the keys in Redis. Returns the check for later: Redis may be down now. */
async function requireOwnPrefix(
  config: Config,
  db: Database,
  redis: OpenSignals['redis'],
): Promise<() => Promise<string | null>> {
  const { installation } = await createInstallationLifeRepository(db).read()
  const check = async () => {
    const owner = (await redis?.foreignOwner(installation)) ?? null
    return owner === null ? null : foreignOwnerText(config.stores.redisPrefix, owner)
  }
  const fault = await check()
  if (fault !== null) throw new Error(fault)
  return check
}

/** Inputs of readiness once the stores are connected. */
interface Readiness {
  readonly db: Database
  readonly redis: OpenSignals['redis']
  readonly clock: Pick<StoreClock, 'now' | 'driftMs'>
  /** The key of this process that is not the installation's; null when all match. */
  readonly keys: () => Promise<string | null>
  readonly liveness: Liveness
}

/** Results of this process's probes, from its first moment to its last. */
function createProcessState() {
  let started = false
  let notReady: string | null = 'starting'
  let watched: Readiness | null = null
  let owner: () => Promise<string | null> = async () => null
  const mongo = async () => {
    if (watched === null) return 'not connected'
    return (await watched.db.isHealthy()) ? null : 'the primary does not respond'
  }
  const redis = () => {
    const fault = watched?.redis?.fault() ?? null
    return fault === null ? null : `${fault}; working from MongoDB alone`
  }
  // Deadlines and lateness use the store's time, but libraries and the log use the machine's.
  // Where nobody else's clock is right it is the store's that is wrong, for all replicas at once.
  const clock = (isOurs: boolean) => async () => {
    if (watched === null) return null
    const { now, driftMs } = watched.clock
    const fault = driftFault(driftMs)
    if (fault === null) return null
    const heartbeats = createProcessHeartbeats(watched.db)
    return (await heartbeats.isAnotherOnTime(hostname(), now(), DRIFT_MAX_MS)) === isOurs ? fault : null
  }
  // A rotation may end while this process still has only the former key.
  const keys = atMostEach(KEYS_POLL_EVERY_MS, async () =>
    // A separate check covers a store that does not respond.
    watched === null ? null : watched.keys().catch(() => null),
  )
  return {
    probes: {
      checks: {
        process: () => notReady,
        clock: clock(true),
        keys,
      },
      // Shared by all replicas: were it a reason, a balancer would take all of them out at once and answer in their place. A request
      // waits for the election here, or gets this product's error. Without the store a process has not started, and is not ready.
      degraded: {
        ...{ mongo: atMostEach(1_000, mongo), redis, clock: clock(false) },
        prefix: atMostEach(KEYS_POLL_EVERY_MS, () => owner()),
      },
      starting: () => (started ? null : notReady),
      silent: () => watched?.liveness.silent() ?? {},
    },
    waitFor: (reason: string) => {
      notReady = reason
    },
    watch: (parts: Readiness) => {
      watched = parts
      notReady = 'starting'
    },
    watchOwner: (check: () => Promise<string | null>) => {
      owner = check
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

const KEYS_POLL_EVERY_MS = 5_000

/** Probes of many watchers cause at most one query in this many milliseconds; a failure is not cached. */
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

/** Work under a wrong key would seal data that no other process decrypts and recognise no API key: such a process does not start. */
async function requireRightKeys(keys: () => Promise<string | null>): Promise<void> {
  const fault = await keys()
  if (fault !== null) throw new Error(fault)
}

const STORE_POLL_EVERY_MS = 5_000

interface Stores {
  readonly db: Database
  readonly redis: OpenSignals['redis']
  readonly clock: Pick<StoreClock, 'driftMs'>
  readonly metrics: MetricsRegistry
}

/** Checks the loops of this process, except while a store is unavailable, and reports which store responds. */
function watchStores({ db, redis, clock, metrics }: Stores): Liveness {
  let storeAway = false
  const look = async () => {
    storeAway = !(await db.isHealthy())
    metrics.gauge('store_up', storeAway ? 0 : 1, { store: 'mongo' })
    if (redis !== null) publishRedis(metrics, redis.isHealthy(), await redis.figures())
    metrics.gauge('clock_drift_seconds', clock.driftMs / 1_000)
  }
  void look()
  const timer = setInterval(() => void look(), STORE_POLL_EVERY_MS)
  timer.unref()
  const liveness = createLiveness({ isExcused: () => storeAway || redis?.isHealthy() === false })
  return {
    ...liveness,
    stop: () => {
      clearInterval(timer)
      liveness.stop()
    },
  }
}

/** What a server no longer says is forgotten: the last figures would look like new ones. */
function publishRedis(metrics: MetricsRegistry, isHealthy: boolean, figures: RedisFigures | null): void {
  metrics.gauge('store_up', isHealthy ? 1 : 0, { store: 'redis' })
  for (const name of ['redis_primary', 'redis_memory_used_bytes', 'redis_memory_max_bytes'] as const)
    metrics.forget(name)
  if (figures === null) return
  metrics.gauge('redis_primary', figures.isPrimary ? 1 : 0)
  metrics.gauge('redis_memory_used_bytes', figures.usedBytes)
  if (figures.maxBytes !== null) metrics.gauge('redis_memory_max_bytes', figures.maxBytes)
}

/** What a crash loses at most. */
const EVERY_MS = 5_000

/** Stores the counted calls of this process every five seconds. Returns a function that ends it and stores the rest. */
function startUsageWriter(db: Database, usage: UsageCounter, logger: Logger): () => Promise<void> {
  const repository = createNodeUsageRepository(db)
  const stop = repeat(() => usage.flush(repository, logger), EVERY_MS)
  return async () => {
    await stop()
    await usage.flush(repository, logger)
  }
}

/** A pace that changes shows within so long. */
const PACES_EVERY_MS = 30_000

/** The measured paces, read before anything is priced by them, and from then on every half minute. */
async function openPaces(db: Database, logger: Logger, undo: (() => Promise<void> | void)[]): Promise<ChainPaces> {
  const paces = createChainPaces({ cursors: createCursorRepository(db), logger })
  await paces.refresh()
  undo.push(repeat(paces.refresh, PACES_EVERY_MS))
  return paces
}

const PAUSE_MIN_MS = 1_000
const PAUSE_MAX_MS = 30_000

/**
 * Connects, with growing pauses for as long as no primary is found; `waiting` receives the reason. Rejects at once when the store
 * responds and refuses the connection, for example for a wrong password.
 */
async function connectPatiently(options: DatabaseOptions, waiting: (reason: string) => void): Promise<Database> {
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    try {
      return await connectDatabase(options)
    } catch (error) {
      // Anything else is a fault of the configuration.
      if (!(error instanceof StoreAway)) throw error
      options.logger.warn({ err: error, pauseMs }, 'MongoDB cannot be reached; retrying')
      waiting(`waiting for MongoDB: ${error.message}`)
    }
    await delay(pauseMs)
  }
}

/** Often enough for an autoscaler that polls every 15 s. */
const COLLECT_EVERY_MS = 5_000

/**
 * Collects the figures of the installation while this process holds the lease, and stands by while another does. It
 * runs in every process that has the list of networks, so that figures exist while one of them is alive. Returns a function that ends it.
 */
function startCollector(
  db: Database,
  { networks, paces }: { readonly networks: NetworkSettings; readonly paces: ChainPaces },
  runtime: Pick<Runtime, 'clock' | 'random' | 'logger'> & { readonly metrics: MetricsRegistry },
): () => Promise<void> {
  const repositories = createRepositories(db, runtime)
  const collector = createBacklogCollector({
    ...runtime,
    ...repositories,
    backlogs: createBacklogRepository(db),
    rates: repositories.rateSnapshots,
    catalog: createCatalog(networks, paces),
    nodePrices: createNodePrices(networks),
    redundancy: createStoreRedundancy(db),
  })
  const stop = repeat(collector.run, COLLECT_EVERY_MS, 0)
  return async () => {
    await stop()
    await collector.stop()
  }
}
