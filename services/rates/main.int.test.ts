import { expect, it } from 'vitest'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { NO_PACES } from '#shared/chains/catalog.ts'
import type { Config } from '#shared/config/schema.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const stores = useStores()

it('publishes at once, again after its pause, and stops without leaving its lease behind', async () => {
  const simulator = await startExchangeSimulator({ port: 0 })
  const config = { rates: { sourceUrls: simulator.sourceUrls }, reads: () => false } as unknown as Config
  const rates = createRateRepository(stores.db)
  const published = async () => (await rates.latest())?.at ?? 0
  const context = {
    ...stores.runtime,
    config,
    db: stores.db,
    signals: createRedisSignals(stores.redis),
    markPlaces: [],
    paces: NO_PACES,
  }
  const stop = await start(context)
  await expect.poll(published, { timeout: 60_000 }).toBeGreaterThan(0)
  const first = await published()
  await expect.poll(published, { timeout: 60_000 }).toBeGreaterThan(first)
  await stop()
  const second = await published()
  const stopAgain = await start(context)
  await expect.poll(published, { timeout: 60_000 }).toBeGreaterThan(second)
  await stopAgain()
  await simulator.stop()
})
