import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAULTS } from '#scripts/exchange-simulator/faults.ts'
import { type ExchangeSimulator, startExchangeSimulator } from '#scripts/exchange-simulator/simulator.ts'
import { createLeaseRepository } from '#shared/db/lease-repository.ts'
import { createRateRepository } from '#shared/db/rate-repository.ts'
import { ASSET_IDS, FIAT_CODES, symbolOf } from '#shared/domain/enumerations.ts'
import { createHttpGet, type HttpGet } from '#shared/runtime/http-get.ts'
import type { AssetInfo } from '#shared/usecases/ports/catalog.ts'
import { createRateReader, type RateReader } from '#shared/usecases/read-rate.ts'
import { useStores } from '#test/support/stores.ts'
import { createRateCycle, type RateCycle } from './rate-cycle.ts'
import { createRateSources } from './rate-sources.ts'
import { createTripwire } from './tripwire.ts'

const stores = useStores()

interface World {
  /** Moves the one clock of service, simulator and reader. */
  later(ms: number): void
  readonly simulator: ExchangeSimulator
  readonly cycle: RateCycle
  readonly reader: RateReader
  usdOf(symbol: 'btc_bitcoin' | 'usdt_tron'): Promise<number>
}

const closing: (() => Promise<unknown>)[] = []
let http: HttpGet
/** Worlds follow one another a day apart, so that each one's newest snapshot is its own. */
let today = Date.UTC(2026, 10, 20, 12)

beforeAll(() => {
  http = createHttpGet({ userAgent: 'Paymesh-Test/1.0' })
})

afterAll(async () => {
  await Promise.all(closing.map((close) => close()))
  await http.close()
})

async function createWorld(): Promise<World> {
  today += 2 * 86_400_000
  const clock = { at: today, now: () => clock.at }
  const simulator = await startExchangeSimulator({ port: 0, now: clock.now })
  const ambient = { ...stores.ambient, clock }
  const rates = createRateRepository(stores.db)
  const cycle = createRateCycle({
    ...ambient,
    rates,
    leases: createLeaseRepository(stores.db),
    sources: createRateSources({ ...ambient, http, sourceUrls: simulator.sourceUrls, timeoutMs: 1_000 }),
    tripwire: createTripwire({ ...ambient, http, baseUrl: simulator.sourceUrls['coin-paprika'] }),
  })
  closing.push(() => simulator.stop())
  const catalog = { asset: (id: string) => ({ symbol: id.slice(0, id.indexOf('_')).toUpperCase() }) as AssetInfo }
  const reader = createRateReader({ rates, clock, catalog })
  return {
    later: (ms) => {
      clock.at += ms
    },
    simulator,
    cycle,
    reader,
    usdOf: async (asset) => Number((await reader.rateFor({ asset, fiat: 'USD', arsSeries: 'crypto' })).fiatPerAsset),
  }
}

/** Runs the story on a world of its own and frees its lease for the next one. */
function story(tell: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const world = await createWorld()
    try {
      await tell(world)
    } finally {
      await world.cycle.stop()
    }
  }
}

const unavailable = expect.objectContaining({ code: 'RATES_UNAVAILABLE' })

describe('the rates service against the exchange simulator', () => {
  it(
    'prices every asset in every fiat and both Argentine series within its first cycle',
    story(async ({ cycle, reader, simulator }) => {
      await cycle.run()
      const state = (await (await fetch(`${simulator.url}/control`)).json()) as { prices: Record<string, number> }
      const perUsd = {
        EUR: 1 / 1.138,
        GBP: 1 / 1.33,
        BRL: 5.1,
        MXN: 17.42,
        COP: 3_245,
        CLP: 925,
        PEN: 3.385,
        DOP: 61.5,
      }
      for (const asset of ASSET_IDS) {
        for (const fiat of FIAT_CODES) {
          for (const arsSeries of ['crypto', 'official'] as const) {
            const rate = await reader.rateFor({ asset, fiat, arsSeries })
            const fx = { ...perUsd, USD: 1, ARS: arsSeries === 'crypto' ? 1_532 : 1_490 }[fiat]
            const expected = (state.prices[symbolOf(asset)] ?? 0) * fx
            expect(Math.abs(Number(rate.fiatPerAsset) / expected - 1), `${asset} in ${fiat}`).toBeLessThan(0.002)
            expect(rate.sources.length).toBeGreaterThanOrEqual(4)
            if (fiat !== 'USD') expect(rate.fxSources.length).toBeGreaterThanOrEqual(2)
          }
        }
      }
    }),
  )

  it(
    // Money: one source that is ten times too high does not move the price.
    'leaves a source at ten times the price out',
    story(async ({ cycle, reader, simulator, usdOf }) => {
      simulator.misbehave('kraken', 'ten_times')
      await cycle.run()
      expect(Math.abs((await usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
      const rate = await reader.rateFor({ asset: 'btc_bitcoin', fiat: 'EUR', arsSeries: 'crypto' })
      expect(rate.sources).toEqual(['binance', 'bitfinex', 'bitstamp', 'coinbase', 'okx'])
    }),
  )

  it(
    'still prices everything with two sources down',
    story(async ({ cycle, reader, simulator }) => {
      simulator.misbehave('kraken', 'timeout')
      simulator.misbehave('okx', 'http_500')
      await cycle.run()
      for (const asset of ASSET_IDS) {
        for (const fiat of FIAT_CODES) await reader.rateFor({ asset, fiat, arsSeries: 'crypto' })
      }
    }),
  )

  it(
    // Money: without fresh prices there is no price; with them it is back in one cycle.
    'has no rate once everything was down for longer than the bound, and one again after a single cycle',
    story(async ({ cycle, simulator, usdOf, later }) => {
      await cycle.run()
      for (const source of Object.keys(simulator.sourceUrls) as (keyof typeof simulator.sourceUrls)[]) {
        simulator.misbehave(source, 'html')
      }
      for (let seconds = 15; seconds < 120; seconds += 15) {
        later(15_000)
        await cycle.run()
        // Held quotes stay good for their 60 s and the snapshot made of them for 120 s, counted from the quotes.
        await usdOf('btc_bitcoin')
      }
      later(15_001)
      await cycle.run()
      await expect(usdOf('btc_bitcoin')).rejects.toEqual(unavailable)
      simulator.heal()
      later(5 * 60_000)
      await cycle.run()
      expect(Math.abs((await usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
    }),
  )

  it.each(FAULTS)('one source with the fault %s changes nothing for the payer', async (fault) => {
    await story(async ({ cycle, simulator, usdOf }) => {
      simulator.misbehave('binance', fault)
      simulator.misbehave('bitstamp', fault, 'BTC')
      await cycle.run()
      expect(Math.abs((await usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
      expect(Math.abs((await usdOf('usdt_tron')) / 0.9997 - 1)).toBeLessThan(0.005)
    })()
  })

  it(
    'drops only the broken pair of a source',
    story(async ({ cycle, reader, simulator }) => {
      simulator.misbehave('kraken', 'crossed', 'BTC')
      await cycle.run()
      const sources = async (asset: 'btc_bitcoin' | 'eth_base') =>
        (await reader.rateFor({ asset, fiat: 'USD', arsSeries: 'crypto' })).sources
      expect(await sources('btc_bitcoin')).not.toContain('kraken')
      expect(await sources('eth_base')).toContain('kraken')
    }),
  )

  it(
    'publishes from one process at a time',
    story(async ({ cycle }) => {
      await cycle.run()
      let asked = 0
      const second = createRateCycle({
        ...stores.ambient,
        rates: createRateRepository(stores.db),
        leases: createLeaseRepository(stores.db),
        sources: {
          poll: async () => {
            asked += 1
            return []
          },
        },
        tripwire: { agrees: async () => false },
      })
      await second.run()
      expect(asked).toBe(0)
      await cycle.stop()
      await second.run()
      expect(asked).toBe(1)
      await second.stop()
    }),
  )
})
