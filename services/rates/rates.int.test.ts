import { describe, expect, it } from 'vitest'
import { FAULTS } from '#dev/exchange-simulator/faults.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { ASSET_IDS, FIAT_CODES, symbolOf } from '#shared/domain/enumerations.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { useRateWorlds } from '#test/support/rate-world.ts'
import { useStores } from '#test/support/stores.ts'
import { createRateCycle } from './rate-cycle.ts'

const stores = useStores()
const story = useRateWorlds(stores)
/** For a story of a source that never answers. */
const ENDS_SOON = { timeoutMs: 2_500 }
/** Answers that never end: only the time of the source ends them. */
const ENDLESS: readonly unknown[] = ['timeout', 'slow_body']
const unavailable = expect.objectContaining({ code: 'RATES_UNAVAILABLE' })

describe('the rates service against the exchange simulator', () => {
  it(
    'prices every asset in every fiat and both Argentine series within its first cycle',
    story(async ({ cycle, reader, simulator }) => {
      await cycle.run()
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
            const expected = simulator.priceOf(symbolOf(asset)) * fx
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

  deepTest(
    'still prices everything with two sources down',
    story(async ({ cycle, reader, simulator }) => {
      simulator.misbehave('kraken', 'timeout')
      simulator.misbehave('okx', 'http_500')
      await cycle.run()
      for (const asset of ASSET_IDS) {
        for (const fiat of FIAT_CODES) await reader.rateFor({ asset, fiat, arsSeries: 'crypto' })
      }
    }, ENDS_SOON),
  )

  it(
    // Money: the store's clock is set back, or its primary moves to a machine whose clock is behind.
    'prices by what it published since its clock went back, and expires as ever',
    story(async ({ cycle, simulator, usdOf, later }) => {
      later(3_600_000)
      await cycle.run()
      later(-3_600_000)
      simulator.setPrice('BTC', 65_000)
      // What was received before is as old as it was, sources are asked again after their pause, and a jump is held until it was seen twice.
      for (const _ of [1, 2, 3, 4]) {
        await cycle.run()
        later(15_000)
      }
      expect(Math.abs((await usdOf('btc_bitcoin')) / 65_000 - 1)).toBeLessThan(0.005)
      later(120_000)
      await expect(usdOf('btc_bitcoin')).rejects.toEqual(unavailable)
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

  it.each(sampleOf(FAULTS, 1))('one source with the fault %s changes nothing for the payer', async (fault) => {
    await story(
      async ({ cycle, simulator, usdOf }) => {
        simulator.misbehave('binance', fault)
        simulator.misbehave('bitstamp', fault, 'BTC')
        await cycle.run()
        expect(Math.abs((await usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
        expect(Math.abs((await usdOf('usdt_tron')) / 0.9997 - 1)).toBeLessThan(0.005)
      },
      ENDLESS.includes(fault) ? ENDS_SOON : {},
    )()
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
      let requests = 0
      const second = createRateCycle({
        ...stores.runtime,
        rates: createRateRepository(stores.db),
        leases: createLeaseRepository(stores.db),
        sources: {
          failing: () => [],
          poll: async () => {
            requests += 1
            return []
          },
        },
        jumpConfirmation: { agrees: async () => false },
      })
      await second.run()
      expect(requests).toBe(0)
      await cycle.stop()
      await second.run()
      expect(requests).toBe(1)
      await second.stop()
    }),
  )
})
