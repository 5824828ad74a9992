import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Report } from './binary-cache.ts'
import { findMongod } from './find-mongod.ts'
import { findRedisServer } from './find-redis-server.ts'
import { startMongoStore } from './mongo-store.ts'
import { startRedisStore } from './redis-store.ts'

/** The two running stores. */
export type Stores = Awaited<ReturnType<typeof startStores>>

export interface StoreOptions {
  /** Stores keep their data in `<dataDir>/mongo` and `<dataDir>/redis`. */
  readonly dataDir: string
  readonly report: Report
  /** Stores that already run; null starts one. */
  readonly mongoUrl: string | null
  readonly redisUrl: string | null
  /** Whether mongod uses its default cache and oplog size, as on a server; otherwise small ones, to share the machine. */
  readonly roomy?: boolean
}

interface Ports {
  readonly mongo: number
  readonly redis: number
}

interface Store {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

/**
 * The stores of one data folder: those given by URL, otherwise own servers on private ports, which a later start on
 * the same folder reuses together with their data. Throws with what to install or set when a server is missing.
 */
export async function startStores(options: StoreOptions) {
  const dataDir = resolve(options.dataDir)
  mkdirSync(dataDir, { recursive: true })
  const ports = readPorts(dataDir)
  const [mongo, redis] = await settleBoth(
    given(options.mongoUrl) ?? startMongo(dataDir, ports.mongo, options),
    given(options.redisUrl) ?? startRedis(dataDir, ports.redis, options.report),
  )
  writePorts(dataDir, { mongo: mongo.port, redis: redis.port })
  const stop = async () => {
    await Promise.all([mongo.stop(), redis.stop()])
  }
  /** `stop` ends the stores that were started here; given ones keep running. */
  return { mongoUrl: mongo.url, redisUrl: redis.url, stop }
}

/** As `startStores` for an installation without Redis: MongoDB alone. The private port of a Redis of before stays reserved. */
export async function startMongoAlone(
  options: Omit<StoreOptions, 'redisUrl'>,
): Promise<Pick<Stores, 'mongoUrl' | 'stop'>> {
  const dataDir = resolve(options.dataDir)
  mkdirSync(dataDir, { recursive: true })
  const ports = readPorts(dataDir)
  const mongo = await (given(options.mongoUrl) ?? startMongo(dataDir, ports.mongo, options))
  writePorts(dataDir, { ...ports, mongo: mongo.port })
  return { mongoUrl: mongo.url, stop: () => mongo.stop() }
}

function given(url: string | null): Promise<Store> | null {
  return url === null ? null : Promise.resolve({ url, port: 0, stop: () => Promise.resolve() })
}

async function startMongo(
  dataDir: string,
  preferredPort: number,
  { report, roomy = false }: Pick<StoreOptions, 'report' | 'roomy'>,
): Promise<Store> {
  return await startMongoStore({
    ...{ binary: await findMongod(report), dir: join(dataDir, 'mongo'), preferredPort, roomy, report },
  })
}

async function startRedis(dataDir: string, preferredPort: number, report: Report): Promise<Store> {
  return await startRedisStore({
    ...{ binary: await findRedisServer(report), dir: join(dataDir, 'redis'), preferredPort, report },
  })
}

/** When one of the two fails, the other is ended before the failure is passed on. */
async function settleBoth(first: Promise<Store>, second: Promise<Store>): Promise<[Store, Store]> {
  const [one, two] = await Promise.allSettled([first, second])
  if (one.status === 'fulfilled' && two.status === 'fulfilled') return [one.value, two.value]
  for (const result of [one, two]) if (result.status === 'fulfilled') await result.value.stop()
  throw one.status === 'rejected' ? one.reason : two.status === 'rejected' ? two.reason : new Error('unreachable')
}

function readPorts(dataDir: string): Ports {
  try {
    const ports = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8'))
    return { mongo: Number(ports.mongo) || 0, redis: Number(ports.redis) || 0 }
  } catch {
    return { mongo: 0, redis: 0 }
  }
}

function writePorts(dataDir: string, ports: Ports): void {
  const file = join(dataDir, 'ports.json')
  writeFileSync(`${file}.new`, JSON.stringify(ports))
  renameSync(`${file}.new`, file)
}
