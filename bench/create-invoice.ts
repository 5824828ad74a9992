import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import mongoose from 'mongoose'
import { startStores } from '#scripts/embedded/stores.ts'
import { connectDatabase, type Database } from '#shared/db/connect.ts'
import { INVOICES } from '#shared/db/invoice-model.ts'
import { migrate } from '#shared/db/migrate.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { type Child, freePort, isReady, listens, pause, startChild } from './child.ts'
import { seedKeys } from './tenants.ts'

const CONNECTIONS = [64, 128] as const
/** Until the compilers have seen enough and every key was read once. */
const WARM_UP_SECONDS = 8
const TENANTS = { workspaces: 100, keys: 2_000 } as const
const PEPPER = Buffer.alloc(32, 8)
const BODY = { amount: '25.00', currency: 'USD', order_id: 'order-1', metadata: { cart: 'c-1' } }

/** What a benchmark is told. */
export interface BenchOptions {
  /** Length of one measurement. */
  readonly seconds: number
  readonly rounds: number
  readonly print: (line: string) => void
}

interface Side {
  readonly url: string
  readonly child: Child
  readonly db: Database
}

/**
 * `POST /invoices` against bare `node:http` with one native insert of the same document, on the same stores, interleaved.
 * A: only the API process runs beside the stores. B: relay, invoice worker and dispatcher run as well. Half of the
 * requests carry an Idempotency-Key; every 201 is looked for in the store.
 */
export async function benchCreateInvoice({ seconds, rounds, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-bench-'))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl })
  const logger = createLogger({ name: 'bench', level: 'silent' })
  const name = `bench_${randomUUID().slice(0, 8)}`
  const db = await connectDatabase({ url: stores.mongoUrl, name, logger })
  const bareDb = await connectDatabase({ url: stores.mongoUrl, name: `${name}_bare`, logger })
  const children: Child[] = []
  try {
    await migrate(db)
    await migrate(bareDb)
    const keys = await seedKeys(db, PEPPER, TENANTS)
    const env = serviceEnv(stores, name)
    const api = await startService('api', env, children)
    const template = await makeTemplate(api.url, db, keys[0] ?? '')
    const bare = await startBare(stores.mongoUrl, bareDb.name, template, children)
    print(
      `${cpus().length} cores, ${rounds} interleaved rounds of ${seconds} s each, ${keys.length} keys, 201s found in the store`,
    )
    const sides = { api: { ...api, db }, bare: { ...bare, db: bareDb } }
    await measure(sides.bare, keys, 64, WARM_UP_SECONDS)
    await measure(sides.api, keys, 64, WARM_UP_SECONDS)
    await compare('A, relay stopped', sides, keys, { seconds, rounds, print })
    for (const service of ['outbox', 'invoices', 'webhooks'] as const) await startService(service, env, children)
    await untilRelayed(db)
    await compare('B, everything running', sides, keys, { seconds, rounds, print })
  } finally {
    for (const child of children.reverse()) await child.stop()
    await db.connection.dropDatabase()
    await bareDb.connection.dropDatabase()
    await Promise.all([db.close(), bareDb.close()])
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function serviceEnv(stores: { readonly mongoUrl: string; readonly redisUrl: string }, name: string) {
  return {
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'production',
    PAYMESH_MONGO_DATABASE: name,
    PAYMESH_REDIS_PREFIX: name,
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PAYMESH_KEY_PEPPER: PEPPER.toString('base64'),
    PAYMESH_PUBLIC_CHECKOUT_URL: 'https://pay.example.com',
    PAYMESH_PUBLIC_API_URL: 'https://api.example.com',
  }
}

/** Starts a process of the Procfile and waits until it can work. */
async function startService(
  service: 'api' | 'outbox' | 'invoices' | 'webhooks',
  env: Readonly<Record<string, string>>,
  children: Child[],
): Promise<{ readonly url: string; readonly child: Child }> {
  const [port, health] = [await freePort(), await freePort()]
  const ports = { PAYMESH_API_PORT: String(port), PAYMESH_METRICS_PORT: String(health) }
  const child = await startChild(['scripts/service.mjs', service], { ...env, ...ports }, () => isReady(health))
  children.push(child)
  return { url: `http://127.0.0.1:${port}/api/v1/invoices`, child }
}

/** Lets the API create one invoice, so that the baseline writes and answers exactly the same. */
async function makeTemplate(url: string, db: Database, key: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(BODY),
  })
  const { data } = (await response.json()) as { data: { id: string } | null }
  const document = await db.collection(INVOICES).findOne({ _id: data?.id ?? '' })
  if (document === null) throw new Error(`the API answered ${response.status}`)
  return mongoose.mongo.BSON.EJSON.stringify({ document, answer: data })
}

async function startBare(mongoUrl: string, database: string, template: string, children: Child[]) {
  const port = await freePort()
  const env = { MONGO_URL: mongoUrl, BENCH_DATABASE: database, BENCH_TEMPLATE: template, BENCH_PORT: String(port) }
  const child = await startChild(['--import', 'tsx', 'bench/bare-server.ts'], env, () => listens(port))
  children.push(child)
  return { url: `http://127.0.0.1:${port}/`, child }
}

async function compare(
  title: string,
  sides: { readonly api: Side; readonly bare: Side },
  keys: readonly string[],
  { seconds, rounds, print }: BenchOptions,
): Promise<void> {
  print(`\n${title}`)
  for (const connections of CONNECTIONS) {
    const ratios: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const bare = await measure(sides.bare, keys, connections, seconds)
      const api = await measure(sides.api, keys, connections, seconds)
      ratios.push(api.perSecond / bare.perSecond)
      print(`  ${connections} connections, round ${round}: api ${describe(api)}, bare ${describe(bare)}`)
    }
    const median = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0
    print(`  ${connections} connections: ratio ${(median * 100).toFixed(1)} % (median)`)
  }
}

/** The relay first works off what piled up while it was stopped; that would be measured as B otherwise. */
async function untilRelayed(db: Database): Promise<void> {
  while ((await db.collection(INVOICES).findOne({ outboxAt: { $exists: true } })) !== null) await pause(250)
}

interface Measurement {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly refused: number
  /** CPU time of the serving process per created invoice; null where the system does not tell. */
  readonly cpuMicros: number | null
}

function describe({ perSecond, p50, p99, refused, cpuMicros }: Measurement): string {
  const cpu = cpuMicros === null ? '' : ` cpu ${cpuMicros.toFixed(0)} µs`
  return `${perSecond.toFixed(0)}/s p50 ${p50} ms p99 ${p99} ms${cpu}${refused > 0 ? ` (${refused} refused)` : ''}`
}

let turn = 0

/** One run of load; throws when a 201 is not in the store. */
async function measure(
  { url, db, child }: Side,
  keys: readonly string[],
  connections: number,
  seconds: number,
): Promise<Measurement> {
  const invoices = db.collection(INVOICES)
  const before = await invoices.countDocuments()
  const cpuBefore = child.cpuSeconds()
  const result = await autocannon({
    url,
    method: 'POST',
    connections,
    duration: seconds,
    body: JSON.stringify(BODY),
    requests: [
      {
        setupRequest: (request) => {
          turn += 1
          const headers: Record<string, string> = {
            'content-type': 'application/json',
            authorization: `Bearer ${keys[turn % keys.length] ?? ''}`,
          }
          if (turn % 2 === 0) headers['idempotency-key'] = `bench-${turn}`
          return { ...request, headers }
        },
      },
    ],
  })
  const cpuAfter = child.cpuSeconds()
  const created = result.statusCodeStats['201']?.count ?? 0
  const stored = (await invoices.countDocuments()) - before
  // Requests in flight when the clock stopped were stored without being counted.
  if (stored < created || stored > created + connections) throw new Error(`${created} times 201, ${stored} stored`)
  const { p50, p99 } = result.latency
  const cpuMicros = cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) * 1_000_000) / created
  return { perSecond: created / result.duration, p50, p99, refused: result.non2xx + result.errors, cpuMicros }
}
