import { expect, it } from 'vitest'
import type { DayUsage } from '#shared/ports/node-usage.ts'
import { useStores } from '#test/support/stores.ts'
import { createNodeUsageRepository } from './node-usage-repository.ts'

const stores = useStores()
const DAY = Date.UTC(2026, 10, 23)

const row = (method: string, calls: number): DayUsage => ({
  ...{ mode: 'live', network: 'ethereum', provider: 'alchemy', method, day: DAY },
  ...{ calls, requestBytes: 10 * calls, responseBytes: 100 * calls },
})

// Guarantee: processes that store at the same moment add up, also when each makes the row.
it('adds what many processes count', async () => {
  const methods = ['eth_call', 'eth_getLogs', 'eth_blockNumber']
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const usage = createNodeUsageRepository(stores.db)
        await usage.add(
          methods.map((method) => row(`${method}-${round}`, 3)),
          DAY + 5,
        )
      }),
    )
  }
  const found = await createNodeUsageRepository(stores.db).since(DAY)
  expect(found).toHaveLength(30)
  for (const { calls, requestBytes, responseBytes, firstAt } of found)
    expect({ calls, requestBytes, responseBytes, firstAt }).toEqual({
      ...{ calls: 24, requestBytes: 240, responseBytes: 2_400, firstAt: DAY + 5 },
    })
  expect(await createNodeUsageRepository(stores.db).since(DAY + 1)).toEqual([])
})
