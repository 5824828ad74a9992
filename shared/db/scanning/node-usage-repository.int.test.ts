import { expect, it } from 'vitest'
import type { DayUsage } from '#shared/ports/node-usage.ts'
import { useStores } from '#test/support/stores.ts'
import { createNodeUsageRepository } from './node-usage-repository.ts'

const stores = useStores()
const DAY = Date.UTC(2026, 10, 23)

const row = (provider: string, calls: number): DayUsage => ({
  ...{ mode: 'live', network: 'ethereum', provider, unit: 'calls', day: DAY, firstAt: DAY + 5 },
  ...{ calls, units: 2 * calls, bytes: 100 * calls },
})

// Guarantee: processes that store at the same moment add up, also when each makes the row.
it('adds what many processes count', async () => {
  const providers = ['alchemy', 'geth:8545', 'reth:8545']
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const usage = createNodeUsageRepository(stores.db)
        await usage.add(providers.map((provider) => row(`${provider}-${round}`, 3)))
      }),
    )
  }
  const found = await createNodeUsageRepository(stores.db).since(DAY)
  expect(found).toHaveLength(30)
  for (const { provider, ...rest } of found) {
    const { provider: _provider, ...sums } = row(provider, 24)
    expect(rest).toEqual(sums)
  }
  expect(await createNodeUsageRepository(stores.db).since(DAY + 1)).toEqual([])
})
