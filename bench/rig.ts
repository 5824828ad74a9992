import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { startStores } from '#dev/embedded/stores.ts'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { SERVE_LINE } from '#scripts/start/procfile.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { type Child, freePort, isReady, listens, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'
import { BENCH_ASSET, NODE_SETTINGS, prepareReceiving } from './receiving.ts'
import { type BenchKey, seedKeys } from './tenants.ts'

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
  startBare(operation: 'create' | 'get' | 'list', database: Database): Promise<Side>
  readonly stores: { readonly mongoUrl: string; readonly redisUrl: string }
  /** Starts another process of the Procfile and waits until it is ready; with `isServe` the one process is it already. */
  startService(name: 'invoices' | 'webhooks'): Promise<Child>
  /** Starts another API process, in addition to `api`, on another database if one is given. */
  startApi(database?: Database): Promise<Side>
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
  const { MONGO_URL: mongoUrl = null, REDIS_URL: givenRedisUrl = null } = process.env
  const redisUrl = options.redisUrl ?? givenRedisUrl
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
  const startProcess = async (
    name: string,
    words: readonly string[],
    { on = db, more = {} }: { readonly on?: Database; readonly more?: Readonly<Record<string, string>> } = {},
  ) => {
    const [port, health] = [await freePort(), await freePort()]
    const ports = { PAYMESH_API_PORT: String(port), PAYMESH_METRICS_PORT: String(health) }
    const { profileDir } = options
    const profile = profileDir === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profileDir, name)}`]
    const env = { ...serviceEnv(stores, on.name), ...ports, ...more }
    const child = await start([...profile, ...words], env, () => isReady(health))
    return { origin: `http://127.0.0.1:${port}`, child, db: on }
  }
  const startServe = async () => {
    const exchanges = await startExchangeSimulator({ port: 0 })
    undo.push(() => exchanges.stop())
    const others = { PAYMESH_CHECKOUT_PORT: '0', PAYMESH_ADMIN_PORT: '0' }
    const more = { ...others, PAYMESH_RATE_SOURCES: JSON.stringify(exchanges.sourceUrls) }
    return await startProcess('serve', SERVE_LINE.args, { more })
  }
  const startService = (service: 'api' | 'invoices' | 'webhooks', on = db) =>
    startProcess(service, ['scripts/service.mjs', service], { on })

  const keys = await seedKeys(db, PEPPER, TENANTS)
  if (asset) undo.push(await prepareReceiving(db, [...new Set(keys.map((key) => key.workspaceId))], options))
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
    startApi: (database) => startService('api', database),
    startHelper: (file, port, helperEnv) => start(['--import', 'tsx', file], helperEnv, () => listens(port)),
    startBare: async (operation, database) => {
      const port = await freePort()
      const bareEnv = {
        MONGO_URL: stores.mongoUrl,
        BENCH_DATABASE: database.name,
        BENCH_OPERATION: operation,
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
