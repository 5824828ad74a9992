import { expect, it } from 'vitest'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { parseDecimal } from '#shared/domain/money/money.ts'
import type { Feed, Quote } from '#shared/domain/rates/quote.ts'
import { confirmRate } from '#shared/usecases/rates/confirm-rate.ts'
import { publishRates } from '#shared/usecases/rates/publish-rates.ts'
import { rateHealth } from '#shared/usecases/rates/rate-health.ts'
import { useStores } from '#test/support/stores.ts'
import { createJumpConfirmation } from './jump-confirmation.ts'

const stores = useStores()

// Guarantee: a real jump of a currency has a way back that a person decides, and no other one.
it('publishes a devaluation when an operator confirms it, and never because it lasts', async () => {
  const clock = { at: Date.UTC(2023, 11, 12, 21), now: () => clock.at }
  const rates = createRateRepository(stores.db)
  const http = { get: async () => ({ outcome: 'network', cause: new Error('no aggregator') }) as const }
  const parts = { ...stores.runtime, clock, rates, leases: createLeaseRepository(stores.db) }
  const jumpConfirmation = createJumpConfirmation({ ...parts, http, baseUrl: '' })
  const quote = (source: string, base: string, unit: string, price: string, feed: Feed): Quote => ({
    ...{ source, base, quote: unit, feed, price: parseDecimal(price) },
    ...{ receivedAt: clock.at, sourceAt: feed === 'daily' ? clock.at : null },
  })
  const cycle = async (peso: string) => {
    clock.at += 15_000
    const snapshot = await publishRates({ ...parts, jumpConfirmation }, [
      ...['kraken', 'coinbase', 'bitstamp'].map((source) => quote(source, 'BTC', 'USD', '42000', 'book')),
      quote('coinbase-fx', 'USD', 'ARS:official', peso, 'rolling'),
      quote('dolar-api', 'USD', 'ARS:official', peso, 'rolling'),
      quote('open-er-api', 'USD', 'ARS:official', peso, 'daily'),
    ])
    return snapshot?.fiatPerUsd['ARS:official']?.price ?? null
  }
  expect(await cycle('366')).toBe('366')
  for (let hour = 0; hour < 60; hour += 1) {
    clock.at += 3_600_000 - 15_000
    expect(await cycle('800')).toBeNull()
  }
  const latest = await rates.latest()
  expect(latest === null ? [] : rateHealth(latest).faults.filter((fault) => fault.startsWith('ARS:official'))).toEqual([
    'ARS:official jumped to 800 and waits: if that is real, paymesh rates confirm ARS:official --price 800',
  ])
  const word = { name: 'ARS:official', price: '800', actor: 'cli:test', opId: 'one', reason: 'devaluation' } as const
  await confirmRate({ clock, rateSnapshots: rates }, word)
  expect(await cycle('801')).toBe('801')
  // It is the new price to compare with, and the word about it is used up by time.
  clock.at += 3_700_000
  expect(await cycle('805')).toBe('805')
  expect([await cycle('1500'), await cycle('1500')]).toEqual([null, null])
})

it('spends no more of the aggregator’s month in a burst than its leases allow, over several processes', async () => {
  const clock = { at: Date.UTC(2026, 10, 20), now: () => clock.at }
  let requests = 0
  const http = {
    get: async () => {
      requests += 1
      return { outcome: 'network', cause: new Error('down') } as const
    },
  }
  const parts = { ...stores.runtime, clock, http, baseUrl: '' }
  await stores.db.connection.collection('leases').deleteMany({})
  for (let process = 0; process < 25; process += 1) {
    const deps = { ...parts, rates: createRateRepository(stores.db), leases: createLeaseRepository(stores.db) }
    await createJumpConfirmation(deps).agrees('BTC', parseDecimal('1'))
  }
  expect(requests).toBe(10)
})
