import { randomBytes } from 'node:crypto'
import { threadId } from 'node:worker_threads'
import { afterAll, beforeAll, inject } from 'vitest'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { emptyDatabase } from './empty-database.ts'
import { toOneServer } from './patient-redis.ts'

/** The stores of one test file. The getters are good inside hooks and tests, not while the file is being read. */
export interface TestStores {
  readonly db: Database
  readonly redis: RedisConnections
  /** Store clock, real randomness, silent log (PAYMESH_TEST_LOG names a level), fresh metrics. */
  readonly runtime: Runtime
  readonly mongoUrl: string
  readonly redisUrl: string
  readonly database: string
  readonly prefix: string
}

interface OpenStores {
  readonly db: Database
  readonly redis: RedisConnections
  readonly runtime: Runtime
  close(): Promise<void>
}

/** Databases in use by the file that is being run. */
let inUse = 0

/**
 * Real stores for a test file: an empty database with every index that no other file uses meanwhile, and a key prefix of its
 * own. Files that one worker runs one after the other share databases, because a thousand indexes made again for each cost the store more
 * than the tests. `migrated: false` gives a database that never existed and is dropped after the file's last test.
 */
export function useStores({ migrated = true }: { readonly migrated?: boolean } = {}): TestStores {
  const id = randomBytes(6).toString('hex')
  inUse += 1
  const database = `${inject('databasePrefix')}${migrated ? `${process.pid}_${threadId}_${inUse}` : id}`
  const prefix = `pmtest-${id}`
  let opened: OpenStores | undefined
  const ready = (): OpenStores => {
    if (opened === undefined) throw new Error('the stores are open only inside hooks and tests')
    return opened
  }
  const urls = () => ({ mongoUrl: inject('mongoUrl'), redisUrl: inject('redisUrl') })
  beforeAll(async () => {
    opened = await openStores({ ...urls(), database, prefix, migrated })
  })
  afterAll(async () => {
    inUse -= 1
    await opened?.close()
  })
  return {
    get db() {
      return ready().db
    },
    get redis() {
      return ready().redis
    },
    get runtime() {
      return ready().runtime
    },
    get mongoUrl() {
      return urls().mongoUrl
    },
    get redisUrl() {
      return urls().redisUrl
    },
    database,
    prefix,
  }
}

/** Stores on servers that run; a file of the project `integration` has `useStores`. */
export async function openStores(options: {
  readonly mongoUrl: string
  readonly redisUrl: string
  readonly database: string
  readonly prefix: string
  readonly migrated: boolean
}): Promise<OpenStores> {
  const { mongoUrl, redisUrl, database, prefix, migrated } = options
  const level = process.env['PAYMESH_TEST_LOG'] === undefined ? 'silent' : 'debug'
  const logger = createLogger({ name: 'test', level })
  const db = await connectDatabase({ url: mongoUrl, name: database, logger })
  if (migrated) await emptyDatabase(db)
  const redis = connectRedis({ url: redisUrl, prefix, logger })
  if (!(await redis.waitUntilHealthy(60_000))) throw new Error('Redis accepts no write')
  const clock = await createStoreClock(db)
  return {
    db,
    redis,
    runtime: { clock, random: createRandom(clock.now), logger, metrics: createMetrics({ defaults: false }) },
    async close() {
      clock.stop()
      await dropKeys(redis)
      if (!migrated) await db.connection.dropDatabase()
      await redis.close()
      await db.close()
    },
  }
}

/** Keys of every prefix that begins with the file's own, through a connection without the product's time limit for a command, which a busy machine exceeds. */
async function dropKeys(redis: RedisConnections): Promise<void> {
  const connection = toOneServer(redis.openWorkerConnection())
  try {
    for await (const keys of connection.scanStream({ match: `${redis.prefix.slice(0, -1)}*`, count: 1_000 })) {
      if (keys.length > 0) await connection.unlink(...keys)
    }
  } finally {
    redis.closeWorkerConnection(connection)
  }
}
