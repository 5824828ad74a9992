import { openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '#dev/embedded/free-port.ts'
import { type Stores, startMongoAlone, startStores } from '#dev/embedded/stores.ts'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { startLocalNodes } from '#dev/local-chain/local-nodes.ts'
import { builtPages } from '#scripts/pages.mjs'
import { openContext } from '#scripts/service/open-context.ts'
import { startAll } from '#scripts/service/start-all.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { type Config, parseConfig } from '#shared/config/schema.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { createLogOutput } from '#shared/runtime/observability/log-output.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { lockDataDir } from './data-lock.ts'
import { type DevInfo, removeDevInfo, writeDevInfo } from './dev-info.ts'
import { type Environment, keepSecrets, removeEnvironment, writeEnvironment } from './environment.ts'
import { readProcfile, SERVE_LINE } from './procfile.ts'
import { runProcesses } from './run-processes.ts'
import type { Runner } from './runner.ts'
import { keepSeed, type Seed } from './seed.ts'
import { FREE_PORTS, type StackOptions, type StackPorts } from './stack-options.ts'

/** A whole running installation. */
export interface Stack extends Pick<Runner, 'kill' | 'restart' | 'pidOf'> {
  /** As in `<dataDir>/dev.json`; `pids` is read on access. */
  readonly dev: DevInfo
  /** Log file of the services. */
  readonly logFile: string
  /** Ends everything that was started, in order: services, then chains, exchanges and stores. Safe to call twice. */
  stop(): Promise<void>
}

const API_ANSWER_MS = 30_000
/**
 * Starts Paymesh on a data folder with everything around it: stores, local chains, simulated exchanges, a seeded
 * workspace. Resolves when the API responds, a test invoice can be priced and paid, and `dev.json` is written. On failure nothing is left running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir)
  const undo: (() => Promise<void> | void)[] = [lockDataDir(dataDir)]
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= runAll(undo.reverse())
    return stopping
  }
  const forget = () => {
    removeDevInfo(dataDir)
    removeEnvironment(dataDir)
  }
  try {
    forget()
    undo.push(forget)
    const { mongoUrl = null, redisUrl = null, networks = ['ethereum'], report = () => {}, processes = false } = options
    const ports = { ...FREE_PORTS, ...options.ports }
    const around = await startSurroundings({ dataDir, ports, networks, mongoUrl, redisUrl, processes, report })
    undo.push(around.stop)
    const environment = await environmentOf(dataDir, options, around)
    const config = parseConfig(environment, processes ? undefined : 'serve')
    const seed = await prepareStores(dataDir, config)
    writeEnvironment(dataDir, environment)
    const logFile = join(dataDir, 'paymesh.log')
    let publish = () => {}
    const runner = await startRunner(options, environment, logFile, () => publish())
    undo.push(runner.stop)
    const devNow = () => devInfo(environment, around, seed, runner)
    await answers(devNow().apiUrl)
    await awaitPayable(config, Object.keys(around.nodes) as NetworkId[])
    publish = () => writeDevInfo(dataDir, devNow())
    publish()
    const { kill, restart, pidOf } = runner
    return {
      get dev() {
        return devNow()
      },
      ...{ logFile, kill, restart, pidOf, stop },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function runAll(steps: readonly (() => Promise<void> | void)[]): Promise<void> {
  for (const step of steps) await step()
}

function startRunner(
  options: StackOptions,
  environment: Environment,
  logFile: string,
  changed: () => void,
): Promise<Runner> {
  if (options.processes !== true && options.serve !== true) return runInProcess(environment, logFile)
  const { keepAlive = true, scale = {}, report = () => {} } = options
  const metricsPort = Number(environment['PAYMESH_METRICS_PORT'])
  const lines = options.serve === true ? [SERVE_LINE] : readProcfile()
  return runProcesses({ lines, environment, logFile, metricsPort, scale, keepAlive, report, changed })
}

/** The environment of every service: development's, overridden by the caller's. */
async function environmentOf(dataDir: string, options: StackOptions, around: Surroundings): Promise<Environment> {
  const ports = { ...FREE_PORTS, ...options.ports }
  const [api, checkout, admin, mail, metrics] = [
    await freePort(ports.api),
    await freePort(ports.checkout),
    await freePort(ports.admin),
    await freePort(ports.mail),
    ports.metrics === 0 ? 0 : await freePort(ports.metrics),
  ]
  return {
    PAYMESH_ENV: 'development',
    PAYMESH_WALLET_DELAY_HOURS: '0',
    MONGO_URL: around.mongoUrl,
    ...(around.redisUrl === null ? {} : { REDIS_URL: around.redisUrl }),
    PAYMESH_MONGO_DATABASE: options.database ?? 'paymesh',
    PAYMESH_REDIS_PREFIX: options.prefix ?? 'paymesh',
    // Another folder than that of the database, as an operator has another volume.
    PAYMESH_MARKS_DIR: join(dataDir, 'marks'),
    ...keepSecrets(dataDir),
    PAYMESH_API_PORT: String(api),
    PAYMESH_PUBLIC_API_URL: `http://127.0.0.1:${api}`,
    PAYMESH_CHECKOUT_PORT: String(checkout),
    PAYMESH_PUBLIC_CHECKOUT_URL: `http://127.0.0.1:${checkout}`,
    PAYMESH_ADMIN_PORT: String(admin),
    PAYMESH_PUBLIC_ADMIN_URL: `http://127.0.0.1:${admin}`,
    PAYMESH_PAGES_DIR: await builtPages(options.report),
    PAYMESH_MAILBOX_PORT: String(mail),
    PAYMESH_METRICS_PORT: String(metrics),
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
    PAYMESH_NETWORKS: JSON.stringify({ test: around.nodes }),
    PAYMESH_RATE_SOURCES: JSON.stringify(around.rateSourceUrls),
    ...options.env,
  }
}

function devInfo(environment: Environment, around: Surroundings, seed: Seed, runner: Runner): DevInfo {
  return {
    apiUrl: `${environment['PAYMESH_PUBLIC_API_URL']}/api/v1`,
    checkoutUrl: environment['PAYMESH_PUBLIC_CHECKOUT_URL'] ?? '',
    adminUrl: environment['PAYMESH_PUBLIC_ADMIN_URL'] ?? null,
    mailUrl: `http://127.0.0.1:${environment['PAYMESH_MAILBOX_PORT']}`,
    testKey: seed.testKey,
    liveKey: seed.liveKey,
    workspaceId: seed.workspaceId,
    ownerEmail: seed.ownerEmail,
    ownerPassword: seed.ownerPassword,
    metricsUrl: runner.metricsUrl,
    mongoUrl: withDatabase(around.mongoUrl, environment['PAYMESH_MONGO_DATABASE'] ?? 'paymesh'),
    redisUrl: around.redisUrl,
    rpcUrls: rpcUrlsOf(around),
    pids: runner.pids(),
  }
}

function rpcUrlsOf({ nodes }: Surroundings): DevInfo['rpcUrls'] {
  return Object.fromEntries(Object.entries(nodes).map(([network, node]) => [network, node.rpcUrls[0] ?? '']))
}

/** The same connection string with this database in it, so that a tool that opens it sees the right data. */
function withDatabase(mongoUrl: string, database: string): string {
  return mongoUrl.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${database}`)
}

/** Any response will do: without a key the API returns 401. */
async function answers(apiUrl: string): Promise<void> {
  for (const until = Date.now() + API_ANSWER_MS; Date.now() < until; await delay(20)) {
    try {
      const response = await fetch(`${apiUrl}/invoices`, { signal: AbortSignal.timeout(2_000) })
      await response.body?.cancel()
      if (response.status < 500) return
    } catch {
      // Not listening yet.
    }
  }
  throw new Error(`the API did not respond on ${apiUrl} within ${API_ANSWER_MS / 1_000} s`)
}

const PAYABLE_MS = 30_000

/**
 * Waits until a first invoice can be priced and paid: a rate snapshot is published, and the sandbox wallet of test mode
 * has addresses that the scanners of the given networks watch. Throws after 30 s, naming the missing part.
 */
async function awaitPayable(config: Config, networks: readonly NetworkId[]): Promise<void> {
  const logger = createLogger({ name: 'start', level: 'silent' })
  const db = await connectDatabase({ url: config.stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  try {
    const rates = createRateRepository(db)
    const wallets = createWalletRepository(db)
    const missing = async (): Promise<string | null> => {
      if ((await rates.latest()) === null) return 'no rates have been published'
      const materials = await wallets.listMaterials()
      for (const network of networks) {
        const { family } = CHAINS[network]
        const sandbox = materials.find((one) => one.sandbox && one.family === family && one.mode === 'test')
        if (sandbox === undefined) return `the sandbox wallet of ${family} does not exist`
        const [next] = await wallets.addressesAt(sandbox.id, [sandbox.nextIndex])
        if (next?.watchedOn.includes(network) !== true) return `no address is monitored on ${network}`
      }
      return null
    }
    let reason = await missing()
    for (const until = Date.now() + PAYABLE_MS; reason !== null && Date.now() < until; reason = await missing()) {
      await delay(50)
    }
    if (reason !== null) throw new Error(`${reason} within ${PAYABLE_MS / 1_000} s; the log has the cause`)
  } finally {
    await db.close()
  }
}

/** Runs every service in this process as `paymesh serve` does, without Redis; the log goes to a file. */
async function runInProcess(environment: Environment, logFile: string): Promise<Runner> {
  const config = parseConfig(environment, 'serve')
  const opened = await openContext('serve', config, createLogOutput(openSync(logFile, 'a')))
  let stopServices: (() => Promise<void>) | null = null
  const stop = async () => {
    opened.drain()
    const stopping = stopServices
    stopServices = null
    // What did not stop cleanly is in the log.
    await stopping?.().catch(() => undefined)
    await opened.close()
  }
  try {
    stopServices = await startAll(opened.context)
  } catch (error) {
    await stop()
    throw error
  }
  opened.ready()
  const alone = () => {
    throw new Error('the services share one process; start with --processes to have one each')
  }
  return {
    metricsUrl: `${opened.health.url}/metrics`,
    pids: () => null,
    pidOf: alone,
    kill: alone,
    restart: async () => alone(),
    stop,
  }
}

/** Creates missing parts of the stores: collections, indexes and the seeded workspace. */
export async function prepareStores(dataDir: string, config: Config): Promise<Seed> {
  const logger = createLogger({ name: 'start', level: 'silent' })
  const db = await connectDatabase({ url: config.stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  try {
    await migrate(db)
    const clock = await createStoreClock(db)
    clock.stop()
    const metrics = createMetrics({ defaults: false })
    return await keepSeed(dataDir, db, config, { clock, random: createRandom(clock.now), logger, metrics })
  } finally {
    await db.close()
  }
}

/** Everything outside Paymesh that a development installation needs. */
export type Surroundings = Awaited<ReturnType<typeof startSurroundings>>

interface SurroundingsOptions {
  readonly dataDir: string
  readonly ports: StackPorts
  readonly networks: readonly NetworkId[]
  readonly mongoUrl: string | null
  readonly redisUrl: string | null
  /** Whether the services run as separate processes, which wake each other over Redis. */
  readonly processes: boolean
  readonly report: (line: string) => void
}

async function openStores(
  options: SurroundingsOptions,
): Promise<Omit<Stores, 'redisUrl'> & { redisUrl: string | null }> {
  if (options.processes) return await startStores(options)
  return { ...(await startMongoAlone(options)), redisUrl: null }
}

/** Starts stores, chains and exchanges in parallel. When one fails, the others are ended before the failure is passed on. */
export async function startSurroundings(options: SurroundingsOptions) {
  const { dataDir, ports, report } = options
  const stops: (() => Promise<void> | void)[] = []
  const stop = async () => {
    await Promise.all(stops.splice(0).map((step) => step()))
  }
  const track = async <T extends { stop(): Promise<void> | void }>(starting: Promise<T>): Promise<T> => {
    const started = await starting
    stops.push(() => started.stop())
    return started
  }
  const parts = [
    track(openStores(options)),
    track(startLocalNodes({ networks: options.networks, dataDir, ethereumPort: ports.chain, report })),
    track(startExchangeSimulator({ port: await freePort(ports.rates) })),
  ] as const
  try {
    const [stores, chains, exchanges] = await Promise.all(parts)
    const { mongoUrl, redisUrl } = stores
    const nodes: Readonly<Partial<Record<NetworkId, NodeSettings>>> = chains.settings
    return {
      mongoUrl,
      /** Null without Redis. */
      redisUrl,
      /** Test-mode nodes by network, as in `PAYMESH_NETWORKS`. */
      nodes,
      /** Base URL by rate source. */
      rateSourceUrls: exchanges.sourceUrls,
      stop,
    }
  } catch (error) {
    await Promise.allSettled(parts)
    await stop()
    throw error
  }
}
