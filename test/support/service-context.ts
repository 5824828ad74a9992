import type { ServiceContext } from '#services/context.ts'
import { NO_PACES } from '#shared/chains/catalog.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import type { TestStores } from './stores.ts'

/** What a `main.ts` needs, on the stores of a test file; `env` adds settings. Use it inside hooks and tests. */
export function serviceContext(stores: TestStores, env: Readonly<Record<string, string>> = {}): ServiceContext {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const config = parseConfig({
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_MONGO_DATABASE: stores.database,
    PAYMESH_REDIS_PREFIX: stores.prefix,
    PAYMESH_MASTER_KEY: secret(7),
    PAYMESH_KEY_PEPPER: secret(8),
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls,localhost-webhooks,no-wallet-delay',
    ...env,
  })
  return {
    ...stores.runtime,
    config,
    db: stores.db,
    signals: createRedisSignals(stores.redis),
    markPlaces: [createRedisMarkPlace(stores.redis)],
    paces: NO_PACES,
  }
}
