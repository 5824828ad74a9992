import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStores } from '#dev/embedded/stores.ts'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { startLocalNodes } from '#dev/local-chain/local-nodes.ts'
import { readProcfile } from '#scripts/start/procfile.ts'
import { prepareStores } from '#scripts/start/stack.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { type Child, cpuSecondsOf, freePort, isReady, pause, residentBytesOf, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'
import { MASTER_KEY, PEPPER } from './rig.ts'
import { percentile } from './statistics.ts'
import { storeProcesses } from './store-processes.ts'

/** The start is over: code is compiled, addresses are derived ahead, the first rates are published. */
const SETTLE_SECONDS = 45
/** A cycle of rates is 15 s long; every measurement contains some. */
const SECONDS_MIN = 30
/** Slow sweeps are asked a few times in it. */
const QUESTION_SECONDS = 60
const QUESTIONS_SHOWN = 12
const NODE_FLAGS = ['--max-semi-space-size=4', '--max-old-space-size=1024']

/** The limits of the one process, without the stores. */
const LIMITS = { megabytes: 300, ownPercent: 2, mongoPercent: 2 } as const

interface Surroundings {
  readonly env: Readonly<Record<string, string>>
  readonly mongoPid: number
  readonly mongoUrl: string
  readonly database: string
  readonly redisPid: number
}

/**
 * Memory and CPU of an installation without any request: one workspace, one local Ethereum node, simulated exchanges. First
 * everything in one process (`paymesh serve`), then one process for each line of the Procfile, on the same data.
 */
export async function benchIdle(options: BenchOptions): Promise<void> {
  const { print, only } = options
  const undo: (() => Promise<unknown> | unknown)[] = []
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-bench-idle-'))
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }))
  try {
    const around = await openSurroundings(dataDir, options, undo)
    const seconds = Math.max(SECONDS_MIN, options.seconds)
    print(
      `${cpus().length} cores; ${SETTLE_SECONDS} s to settle, then ${options.rounds} rounds of ${seconds} s; medians`,
    )
    print('form       memory     CPU of a core   mongod   redis   wake-ups/s')
    if (only !== 'processes') {
      const serve = await startOne(['scripts/paymesh.mjs', 'serve'], around.env, options, 'serve')
      undo.push(() => serve.stop())
      const figures = await measure([serve], around, seconds, options.rounds)
      print(lineOf('serve', figures))
      await printQuestions(around, options)
      await serve.stop()
      const isWithin =
        figures.megabytes <= LIMITS.megabytes &&
        figures.ownPercent <= LIMITS.ownPercent &&
        figures.mongoPercent <= LIMITS.mongoPercent
      print(
        `           ${isWithin ? 'within' : 'beyond'} the limits: ${LIMITS.megabytes} MB, ${LIMITS.ownPercent} %, mongod ${LIMITS.mongoPercent} %`,
      )
    }
    if (only !== 'serve') {
      const children: Child[] = []
      for (const { name, args } of readProcfile()) {
        const child = await startOne(args, around.env, options, name)
        undo.push(() => child.stop())
        children.push(child)
      }
      print(lineOf('Procfile', await measure(children, around, seconds, options.rounds)))
    }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function openSurroundings(
  dataDir: string,
  { print }: BenchOptions,
  undo: (() => Promise<unknown> | unknown)[],
): Promise<Surroundings> {
  const stores = await startStores({ dataDir, report: print, mongoUrl: null, redisUrl: null, roomy: true })
  undo.push(() => stores.stop())
  const nodes = await startLocalNodes({ networks: ['ethereum'], dataDir, ethereumPort: 0, report: print })
  undo.push(() => nodes.stop())
  const exchanges = await startExchangeSimulator({ port: 0 })
  undo.push(() => exchanges.stop())
  const env = {
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'production',
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls',
    PAYMESH_MASTER_KEY: MASTER_KEY.toString('base64'),
    PAYMESH_KEY_PEPPER: PEPPER.toString('base64'),
    PAYMESH_NETWORKS: JSON.stringify({ test: nodes.settings }),
    PAYMESH_RATE_SOURCES: JSON.stringify(exchanges.sourceUrls),
  }
  const config = parseConfig(env)
  await prepareStores(dataDir, config)
  const logger = createLogger({ name: 'bench', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  const { mongod, redis } = await storeProcesses(db, stores.redisUrl)
  await db.close()
  return {
    env,
    mongoPid: mongod ?? Number.NaN,
    mongoUrl: stores.mongoUrl,
    database: config.stores.mongoDatabase,
    redisPid: redis ?? Number.NaN,
  }
}

async function printQuestions({ mongoUrl, database }: Surroundings, { print }: BenchOptions): Promise<void> {
  const logger = createLogger({ name: 'bench', level: 'silent' })
  const db = await connectDatabase({ url: mongoUrl, name: database, logger })
  try {
    const questions = await countQuestions(db, QUESTION_SECONDS)
    const total = questions.reduce((sum, { perMinute }) => sum + perMinute, 0)
    print(`           ${total.toFixed(0)} commands a minute; the most frequent:`)
    for (const { text, perMinute } of questions.slice(0, QUESTIONS_SHOWN))
      print(`           ${perMinute.toFixed(0).padStart(5)}  ${text}`)
  } finally {
    await db.close()
  }
}

async function startOne(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { profileDir }: BenchOptions,
  name: string,
): Promise<Child> {
  const health = await freePort()
  const ports = { PAYMESH_API_PORT: '0', PAYMESH_CHECKOUT_PORT: '0', PAYMESH_ADMIN_PORT: '0' }
  const profile = profileDir === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profileDir, name)}`]
  const flags = name === 'serve' ? NODE_FLAGS : []
  return await startChild(
    [...profile, ...flags, ...args],
    { ...env, ...ports, PAYMESH_METRICS_PORT: String(health) },
    () => isReady(health),
  )
}

interface Figures {
  readonly megabytes: number
  readonly ownPercent: number
  readonly wakeUps: number
  readonly mongoPercent: number
  readonly redisPercent: number
}

async function measure(
  children: readonly Child[],
  { mongoPid, redisPid }: Surroundings,
  seconds: number,
  rounds: number,
): Promise<Figures> {
  await pause(SETTLE_SECONDS * 1_000)
  const usage = () => ({
    at: performance.now(),
    own: children.reduce((sum, child) => sum + (cpuSecondsOf(child.pid) ?? Number.NaN), 0),
    wakeUps: children.reduce((sum, child) => sum + (wakeUpsOf(child.pid) ?? Number.NaN), 0),
    mongo: cpuSecondsOf(mongoPid) ?? Number.NaN,
    redis: cpuSecondsOf(redisPid) ?? Number.NaN,
  })
  const own: number[] = []
  const wakeUps: number[] = []
  const mongo: number[] = []
  const redis: number[] = []
  const bytes: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = usage()
    await pause(seconds * 1_000)
    const after = usage()
    const percentOf = (from: number, to: number) => (100_000 * (to - from)) / (after.at - before.at)
    own.push(percentOf(before.own, after.own))
    wakeUps.push((1_000 * (after.wakeUps - before.wakeUps)) / (after.at - before.at))
    mongo.push(percentOf(before.mongo, after.mongo))
    redis.push(percentOf(before.redis, after.redis))
    bytes.push(children.reduce((sum, child) => sum + (residentBytesOf(child.pid) ?? Number.NaN), 0))
  }
  return {
    megabytes: percentile(bytes, 0.5) / 1_000_000,
    ownPercent: percentile(own, 0.5),
    wakeUps: percentile(wakeUps, 0.5),
    mongoPercent: percentile(mongo, 0.5),
    redisPercent: percentile(redis, 0.5),
  }
}

function lineOf(name: string, { megabytes, ownPercent, wakeUps, mongoPercent, redisPercent }: Figures): string {
  const percent = (value: number) => `${value.toFixed(1)} %`
  return `${name.padEnd(9)} ${megabytes.toFixed(0).padStart(5)} MB ${percent(ownPercent).padStart(14)} ${percent(mongoPercent).padStart(11)} ${percent(redisPercent).padStart(8)} ${wakeUps.toFixed(0).padStart(8)}`
}

const PROFILE_BYTES = 64 * 1_024 * 1_024

/** How often the threads of a process stopped waiting since its start; null when it has ended. */
export function wakeUpsOf(pid: number | undefined): number | null {
  if (pid === undefined) return null
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
      const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8')
      return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1])
    }, 0)
  } catch {
    return null
  }
}

/** One kind of question that an installation asks its database. */
export interface Question {
  readonly text: string
  readonly perMinute: number
}

/**
 * Every command that the database gets within some seconds, by collection, command and the fields of its filter, the most frequent first.
 * MongoDB's profiler counts them, which costs it time: nothing else is measured meanwhile.
 */
export async function countQuestions({ connection }: Database, seconds: number): Promise<readonly Question[]> {
  const db = connection.db
  if (db === undefined) throw new Error('the database is not connected')
  await db.command({ profile: 0 })
  await db.dropCollection('system.profile').catch(() => false)
  // Its own size of 1 MB would keep the last seconds only.
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES })
  await db.command({ profile: 2, slowms: 0 })
  await pause(seconds * 1_000)
  await db.command({ profile: 0 })
  const found = await db
    .collection('system.profile')
    .find({ op: { $ne: 'getmore' } })
    .toArray()
  const counts = new Map<string, number>()
  for (const { ns, op, command } of found) {
    if (command === undefined || command['profile'] !== undefined) continue
    const text = `${String(ns).replace(/^[^.]+\./, '')} ${nameOf(op, command)}`
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts]
    .map(([text, count]) => ({ text, perMinute: (count * 60) / seconds }))
    .sort((one, other) => other.perMinute - one.perMinute)
}

function nameOf(op: string, command: Record<string, unknown>): string {
  const [name = op] = Object.keys(command)
  const filter = command['filter'] ?? command['q'] ?? command['query'] ?? firstMatch(command['pipeline'])
  return `${op === 'command' ? name : op} ${Object.keys(filter ?? {}).join(',')}`.trim()
}

function firstMatch(pipeline: unknown): object | undefined {
  return Array.isArray(pipeline) ? pipeline.find((stage) => stage.$match !== undefined)?.$match : undefined
}
