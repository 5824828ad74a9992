import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import { createStoreClock } from '#shared/db/clock.ts'
import { connectDatabase, type Database } from '#shared/db/connect.ts'
import { migrate } from '#shared/db/migrate.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createRandom } from '#shared/runtime/random.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

/** The stores of one test file. The getters are good inside hooks and tests, not while the file is being read. */
export interface TestStores {
  readonly db: Database
  readonly redis: RedisConnections
  /** Store clock, real randomness, silent log (PAYMESH_TEST_LOG names a level), fresh metrics. */
  readonly ambient: Ambient
  readonly mongoUrl: string
  readonly redisUrl: string
  readonly database: string
  readonly prefix: string
}

interface Opened {
  readonly db: Database
  readonly redis: RedisConnections
  readonly ambient: Ambient
  close(): Promise<void>
}

/**
 * Real stores for a test file: a database of its own with every index, and a key prefix of its own, both dropped after
 * the file's last test. `migrated: false` leaves the database empty.
 */
export function useStores(options: { readonly migrated?: boolean } = {}): TestStores {
  const id = randomBytes(6).toString('hex')
  const database = `paymesh_test_${id}`
  const prefix = `pmtest-${id}`
  let opened: Opened | undefined
  const ready = (): Opened => {
    if (opened === undefined) throw new Error('the stores are open only inside hooks and tests')
    return opened
  }
  const urls = () => ({ mongoUrl: inject('mongoUrl'), redisUrl: inject('redisUrl') })
  beforeAll(async () => {
    opened = await open({ ...urls(), database, prefix, migrated: options.migrated ?? true })
  })
  afterAll(() => opened?.close())
  return {
    get db() {
      return ready().db
    },
    get redis() {
      return ready().redis
    },
    get ambient() {
      return ready().ambient
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

async function open(options: {
  readonly mongoUrl: string
  readonly redisUrl: string
  readonly database: string
  readonly prefix: string
  readonly migrated: boolean
}): Promise<Opened> {
  const { mongoUrl, redisUrl, database, prefix, migrated } = options
  const level = process.env['PAYMESH_TEST_LOG'] === undefined ? 'silent' : 'debug'
  const logger = createLogger({ name: 'test', level })
  const db = await connectDatabase({ url: mongoUrl, name: database, logger })
  if (migrated) await migrate(db)
  const redis = connectRedis({ url: redisUrl, prefix, logger })
  await redis.waitUntilHealthy(5_000)
  const clock = await createStoreClock(db)
  return {
    db,
    redis,
    ambient: { clock, random: createRandom(), logger, metrics: createMetrics({ defaults: false }) },
    async close() {
      clock.stop()
      await dropKeys(redis)
      await db.connection.dropDatabase()
      await redis.close()
      await db.close()
    },
  }
}

async function dropKeys({ producer, prefix }: RedisConnections): Promise<void> {
  for await (const keys of producer.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    if (keys.length > 0) await producer.unlink(...keys)
  }
}
