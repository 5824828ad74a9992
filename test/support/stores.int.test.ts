import { expect, it } from 'vitest'
import { useStores } from './stores.ts'

const stores = useStores()

it('gives a migrated database, a reachable Redis and its own runtime', async () => {
  expect(await stores.db.isHealthy()).toBe(true)
  expect(stores.db.name).toBe(stores.database)
  expect(await stores.redis.producer.ping()).toBe('PONG')
  expect(stores.prefix).toMatch(/^pmtest-/)
  expect(Math.abs(stores.runtime.clock.now() - Date.now())).toBeLessThan(60_000)
})
