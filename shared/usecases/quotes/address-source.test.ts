import { describe, expect, it } from 'vitest'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createAddressSource } from './addresses.ts'

const material = { id: 'key', mode: 'live', family: 'evm' } as const
/** Addresses in stock above which no more are reserved. */
const STOCK_CAP = 64

/** A key with enough addresses for a full stock, none of them watched yet, and a scanner that marks them all when told to. */
function openSource() {
  let now = 1_000_000
  let reserved = 0
  let isMarked = false
  let failures = 0
  const clock = { now: () => now }
  const addressAt = (index: number): WatchedAddress => ({
    ...{ mode: 'live', family: 'evm', materialId: material.id, index },
    ...{ matchKey: `key-${index}`, address: `address-${index}`, watchedOn: isMarked ? ['ethereum'] : [] },
  })
  const wallets = {
    reserveIndexes: async (_id: string, count: number) => Array.from({ length: count }, () => reserved++),
    addressesAt: async (_id: string, indexes: readonly number[]) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (failures > 0) {
        failures -= 1
        throw new Error('the store does not respond')
      }
      return indexes.map(addressAt)
    },
  }
  const logger = createLogger({ name: 'test', level: 'silent' })
  const metrics = createMetrics({ defaults: false })
  const catalog = { hasNode: () => true }
  const source = createAddressSource({
    clock,
    logger,
    metrics,
    random: createRandom(clock.now),
    wallets: standIn(wallets),
    catalog: standIn(catalog),
    marks: NO_MARKS,
  })
  return {
    source,
    mark: () => {
      isMarked = true
    },
    failOnce: () => {
      failures = 1
    },
    advance: (ms: number) => {
      now += ms
    },
    take: async (count: number) =>
      await Promise.allSettled(Array.from({ length: count }, () => source.take(material, 'ethereum'))),
  }
}

// Guarantee: a payer is not refused while a watched address is in stock, however many ask at once.
describe('many callers at once', () => {
  it('all get an address of a full stock whose addresses have just been marked as watched', async () => {
    const { take, mark, advance } = openSource()
    expect(new Set((await take(3)).map(({ status }) => status))).toEqual(new Set(['rejected']))
    mark()
    advance(1_000)
    const taken = await take(STOCK_CAP)
    expect(taken.filter(({ status }) => status === 'rejected')).toEqual([])
    const addresses = taken.map((one) => (one.status === 'fulfilled' ? one.value.address : null))
    expect(new Set(addresses).size).toBe(STOCK_CAP)
  })

  it('a list of currencies says the same of every asset of a network', async () => {
    const { source, take, mark, advance } = openSource()
    await take(1)
    mark()
    advance(1_000)
    const answers = await Promise.all(Array.from({ length: 3 }, () => source.canTake(material, 'ethereum')))
    expect(answers).toEqual([true, true, true])
  })
})

describe('a store that does not respond', () => {
  it('is an error for those who wait for it, and the next caller asks it again', async () => {
    const { take, mark, advance, failOnce } = openSource()
    await take(1)
    mark()
    advance(1_000)
    failOnce()
    const causes = (await take(3)).map((one) => (one.status === 'rejected' ? (one.reason as Error).message : null))
    expect(causes).toEqual(Array.from({ length: 3 }, () => 'the store does not respond'))
    expect((await take(1)).map(({ status }) => status)).toEqual(['fulfilled'])
  })
})
