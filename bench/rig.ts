import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { startStores } from '#dev/embedded/stores.ts'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { SERVE_LINE } from '#scripts/start/procfile.ts'
import type { NetworkSettings } from '#shared/config/network-settings.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import { RATE_SYMBOLS, type RateSymbol, STABLECOINS } from '#shared/domain/rates/crypto-board.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createKeyHasher } from '#shared/runtime/secrets/secret-box.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { issueKey } from '#test/support/issue-key.ts'
import { type Child, freePort, isReady, listens, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'

const TENANTS = { workspaces: 100, keys: 2_000 } as const
/** Pepper of the API keys that a benchmark seeded. */
export const PEPPER = Buffer.alloc(32, 8)
/** Key under which the services decrypt data that a benchmark sealed. */
export const MASTER_KEY = Buffer.alloc(32, 7)

/** A server under load. */
export interface Side {
  /** Scheme, host and port. */
  readonly origin: string
  readonly child: Child
  /** Its database. */
  readonly db: Database
}

/** A real invoice as stored and returned by the API, so that the baseline writes, reads and returns exactly the same. */
export interface Template {
  readonly document: InvoiceDocument
  readonly answer: Readonly<Record<string, unknown>>
}

/** Stores, tenants and the API process of one benchmark. */
export interface Rig {
  readonly api: Side
  readonly keys: readonly BenchKey[]
  readonly template: Template
  /** The body that every create sends. */
  readonly body: string
  /** Starts the baseline on `database`. */
  startBare(database: Database): Promise<Side>
  readonly stores: { readonly mongoUrl: string; readonly redisUrl: string }
  /** Starts another process of the Procfile and waits until it is ready; with `isServe` the one process is it already. */
  startService(name: 'invoices' | 'webhooks'): Promise<Child>
  /** Starts another API process, in addition to `api`. */
  startApi(): Promise<Side>
  /** Starts a process of the benchmark and waits until it listens on `port`. */
  startHelper(file: string, port: number, env: Readonly<Record<string, string>>): Promise<Child>
  /** An empty database with the product's indexes, dropped at the end. */
  openDatabase(): Promise<Database>
}

/** Runs a benchmark on a separate rig and leaves nothing behind, however it ends. */
export async function withRig(options: BenchOptions, bench: (rig: Rig) => Promise<void>): Promise<void> {
  const undo: (() => Promise<unknown> | unknown)[] = []
  try {
    await bench(await openRig(options, undo))
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function openRig(options: BenchOptions, undo: (() => Promise<unknown> | unknown)[]): Promise<Rig> {
  const { print, asset } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-bench-'))
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  undo.push(() => stores.stop())
  const logger = createLogger({ name: 'bench', level: 'silent' })

  const openDatabase = async (): Promise<Database> => {
    const db = await connectDatabase({ url: stores.mongoUrl, name: `bench_${randomUUID().slice(0, 8)}`, logger })
    undo.push(async () => {
      await db.connection.dropDatabase()
      await db.close()
    })
    await migrate(db)
    return db
  }
  const start = async (
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    isUp: () => Promise<boolean>,
  ) => {
    const child = await startChild(args, env, isUp)
    undo.push(() => child.stop())
    return child
  }

  const db = await openDatabase()
  const startProcess = async (name: string, words: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const [port, health] = [await freePort(), await freePort()]
    const ports = { PAYMESH_API_PORT: String(port), PAYMESH_METRICS_PORT: String(health) }
    const { profileDir } = options
    const profile = profileDir === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profileDir, name)}`]
    const env = { ...serviceEnv(stores, db.name), ...ports, ...more }
    const child = await start([...profile, ...words], env, () => isReady(health))
    return { origin: `http://127.0.0.1:${port}`, child, db }
  }
  const startServe = async () => {
    const exchanges = await startExchangeSimulator({ port: 0 })
    undo.push(() => exchanges.stop())
    const others = { PAYMESH_CHECKOUT_PORT: '0', PAYMESH_ADMIN_PORT: '0' }
    const sources = { PAYMESH_RATE_SOURCES: JSON.stringify(exchanges.sourceUrls) }
    return await startProcess('serve', SERVE_LINE.args, { ...others, ...sources })
  }
  const startService = (service: 'api' | 'invoices' | 'webhooks') =>
    startProcess(service, ['scripts/service.mjs', service])

  const keys = await seedKeys(db, PEPPER, TENANTS)
  // As in production: without a price each create would look for one again, because that none is published is not remembered.
  if (!options.isServe) undo.push(await keepPublishing(db))
  if (asset) await prepareReceiving(db, [...new Set(keys.map((key) => key.workspaceId))], options)
  const body = JSON.stringify({
    ...{ amount: '25.00', currency: 'USD', order_id: 'order-1', metadata: { cart: 'c-1' } },
    ...(asset && { asset: BENCH_ASSET }),
  })
  const api = options.isServe ? await startServe() : await startService('api')
  const template = await makeTemplate(api, keys[0]?.apiKey ?? '', body)
  print(
    `${cpus().length} cores, ${options.rounds} interleaved rounds of ${options.seconds} s each, ${keys.length} keys`,
  )
  return {
    api,
    keys,
    template,
    body,
    openDatabase,
    stores,
    startService: async (name) => (options.isServe ? api.child : (await startService(name)).child),
    startApi: () => startService('api'),
    startHelper: (file, port, helperEnv) => start(['--import', 'tsx', file], helperEnv, () => listens(port)),
    startBare: async (database) => {
      const port = await freePort()
      const bareEnv = {
        MONGO_URL: stores.mongoUrl,
        BENCH_DATABASE: database.name,
        BENCH_TEMPLATE: mongoose.mongo.BSON.EJSON.stringify(template),
        BENCH_PORT: String(port),
      }
      const child = await start(['--import', 'tsx', 'bench/bare-server.ts'], bareEnv, () => listens(port))
      return { origin: `http://127.0.0.1:${port}`, child, db: database }
    },
  }
}

function serviceEnv(stores: { readonly mongoUrl: string; readonly redisUrl: string }, name: string) {
  return {
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'production',
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls,localhost-webhooks',
    PAYMESH_MONGO_DATABASE: name,
    PAYMESH_REDIS_PREFIX: name,
    PAYMESH_MASTER_KEY: MASTER_KEY.toString('base64'),
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
    PAYMESH_KEY_PEPPER: PEPPER.toString('base64'),
    PAYMESH_PUBLIC_CHECKOUT_URL: 'https://pay.example.com',
    PAYMESH_PUBLIC_API_URL: 'https://api.example.com',
    PAYMESH_NETWORKS: JSON.stringify(NODE_SETTINGS),
  }
}

/** Creates one invoice with the API. */
async function makeTemplate({ origin, db }: Side, apiKey: string, body: string): Promise<Template> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const response = await fetch(`${origin}/api/v1/invoices`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': randomUUID() },
    body,
  })
  const { data: answer } = (await response.json()) as { data: Record<string, unknown> | null }
  const document = await db.collection(INVOICES).findOne({ _id: String(answer?.['id']) })
  if (document === null || answer === null) throw new Error(`the API answered ${response.status}`)
  return { document, answer }
}

/** A test key and its workspace. */
export interface BenchKey {
  readonly apiKey: string
  readonly workspaceId: string
}

/** Issues `keys` test keys, spread over `workspaces`; the rate limit allows each key two requests a second. */
export async function seedKeys(
  db: Database,
  pepper: Uint8Array,
  counts: { readonly workspaces: number; readonly keys: number },
): Promise<readonly BenchKey[]> {
  const deps = {
    workspaces: createWorkspaceRepository(db),
    workspaceAdmin: createWorkspaceOperations(db),
    hasher: createKeyHasher(pepper),
    random: createRandom(Date.now),
    clock: { now: Date.now },
  }
  const keys: BenchKey[] = []
  for (let shop = 0; shop < counts.workspaces; shop += 1) {
    const { id: workspaceId } = await createWorkspace(deps, {
      name: `Shop ${shop}`,
      ownerEmail: 'owner@example.com',
      actor: 'bench',
    })
    const perWorkspace = Array.from({ length: counts.keys / counts.workspaces }, () =>
      issueKey(deps, { workspaceId, mode: 'test', scopes: SCOPES, actor: 'bench' }),
    )
    for (const { apiKey } of await Promise.all(perWorkspace)) keys.push({ apiKey, workspaceId })
  }
  return keys
}

/** The asset of invoices with `--asset`. */
export const BENCH_ASSET = 'usdt_ethereum'
const NETWORK = 'ethereum'
const PLACE = { mode: 'test', family: 'evm' } as const
/** More than any machine creates in a second, distributed over the workspaces. */
const ADDRESSES_PER_SECOND = 4_000
/** Including warm-up and the responses to the template. */
const SPARE_SECONDS = 20
const SPARE_PER_WORKSPACE = 1_000
const RATES_EVERY_MS = 20_000
const HOUR_MS = 3_600_000

/** The network of the asset has a node, so that only watched addresses are issued; it is never called. */
export const NODE_SETTINGS: { readonly test: { readonly ethereum: Partial<NetworkSettings['test']['ethereum']> } } = {
  test: { [NETWORK]: { rpcUrls: ['http://127.0.0.1:9'], chainId: 31_337, confirmations: 3 } },
}

/**
 * Prepares what other processes do before a create: a wallet for each workspace, derived
 * and watched addresses, and a scanner at its head. The addresses are invented, because derivation is not measured.
 */
export async function prepareReceiving(
  db: Database,
  workspaceIds: readonly string[],
  { seconds, rounds, print }: Pick<BenchOptions, 'seconds' | 'rounds' | 'print'>,
): Promise<void> {
  // Two kinds of run with two numbers of connections each.
  const total = (4 * seconds * rounds + SPARE_SECONDS) * ADDRESSES_PER_SECOND
  const perWorkspace = Math.ceil(total / workspaceIds.length) + SPARE_PER_WORKSPACE
  const startedAt = performance.now()
  for (const workspaceId of workspaceIds) await addWalletWith(db, workspaceId, perWorkspace)
  const took = ((performance.now() - startedAt) / 1_000).toFixed(0)
  print(`${perWorkspace} watched addresses for each of ${workspaceIds.length} workspaces in ${took} s`)
  await createCursorRepository(db).create({
    ...{ id: `test:${NETWORK}`, mode: 'test', network: NETWORK, height: 1, hash: '0x1', time: Date.now(), window: [] },
    // No scanner runs: as if it had polled its head for the whole time.
    ...{ headHeight: 1, headSeenAt: Date.now() + HOUR_MS, finalizedHeight: 1, genesisHash: '0x0', lease: null },
    ...{ status: 'live', haltReason: null },
  })
}

async function addWalletWith(db: Database, workspaceId: string, count: number): Promise<void> {
  const wallets = createWalletRepository(db)
  const fingerprint = randomBytes(16).toString('hex')
  const materialId = `test:evm:${fingerprint}`
  const createdAt = Date.now()
  await wallets.upsertMaterial({
    ...{ ...PLACE, id: materialId, kind: 'xpub', fingerprint, sealed: '', sandbox: false, scriptType: null },
    ...{ nextIndex: 0, derivedCount: 0, returned: [], createdAt },
  })
  const rows = Array.from({ length: count }, (_, index): WatchedAddress => {
    const matchKey = randomBytes(20).toString('hex')
    return { ...PLACE, matchKey, address: `0x${matchKey}`, materialId, index, watchedOn: [NETWORK] }
  })
  await wallets.addDerived(materialId, rows, count)
  await wallets.insertWallet({
    ...{ ...PLACE, id: `wallet-${fingerprint}`, workspaceId, networks: [NETWORK], kind: 'xpub', materialId, createdAt },
    disabledAt: null,
  })
}

/** Publishes prices of all coins in dollars now and again while they are fresh; returns a function that ends it. */
async function keepPublishing(db: Database): Promise<() => void> {
  await publishRates(db)
  const timer = setInterval(() => void publishRates(db), RATES_EVERY_MS)
  return () => clearInterval(timer)
}

async function publishRates(db: Database): Promise<void> {
  const at = Date.now()
  const sources = ['binance', 'coinbase', 'kraken', 'okx', 'bitfinex', 'bitstamp']
  const priceOf = (symbol: RateSymbol) => (STABLECOINS.has(symbol) ? '1.0002' : '100.25')
  const prices = RATE_SYMBOLS.map((symbol) => [symbol, { price: priceOf(symbol), sources, oldestAt: at }] as const)
  await createRateRepository(db).insert({
    ...{ at, guards: {}, expected: {}, sources: {}, clockOffsetMs: null },
    usdPerSymbol: Object.fromEntries(prices),
    fiatPerUsd: { USD: { price: '1', sources: [], oldestAt: at } },
  })
}
