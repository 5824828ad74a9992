import { describe, expect, it } from 'vitest'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { type RateWorld, useRateWorlds } from '#test/support/rate-world.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const story = useRateWorlds(stores)

describe('the market itself', () => {
  it(
    'falling by 15 % everywhere is believed in the second cycle',
    story(async ({ simulator, cycle, later, rateOf, usdOf }) => {
      await cycle.run()
      simulator.setPrice('BTC', 71_250 * 0.85)
      later(15_000)
      await cycle.run()
      expect(await rateOf('btc_bitcoin')).toBeNull()
      later(15_000)
      await cycle.run()
      expect(Math.abs((await usdOf('btc_bitcoin')) / (71_250 * 0.85) - 1)).toBeLessThan(0.005)
    }),
  )

  deepTest(
    'falling by 40 % everywhere waits for the aggregator',
    story(async ({ simulator, cycle, later, rateOf, usdOf }) => {
      await cycle.run()
      simulator.misbehave('coin-paprika', 'http_500')
      simulator.setPrice('BTC', 71_250 * 0.6)
      for (let round = 0; round < 3; round += 1) {
        later(15_000)
        await cycle.run()
        expect(await rateOf('btc_bitcoin')).toBeNull()
      }
      simulator.heal()
      later(15_000)
      await cycle.run()
      expect(Math.abs((await usdOf('btc_bitcoin')) / (71_250 * 0.6) - 1)).toBeLessThan(0.005)
    }),
  )

  it.each([
    [0.985, true],
    [1.02, true],
    [0.93, false],
  ])(
    // Money: a stablecoin is worth what the market says, and books in it are corrected by that.
    'USDT at %d dollars is priced as such: %j, and bitcoin in dollars stays where it is',
    async (usd, priced) => {
      await story(async ({ simulator, cycle, rateOf, usdOf, counted }) => {
        simulator.setPrice('USDT', usd)
        await cycle.run()
        const tether = await rateOf('usdt_tron')
        if (priced) expect(Math.abs(Number(tether?.fiatPerAsset) / usd - 1)).toBeLessThan(0.001)
        else expect(tether).toBeNull()
        expect(counted).toContain(`rate_guard_total USDT ${priced ? 'depeg_warning' : 'depeg_stopped'}`)
        const bitcoin = await rateOf('btc_bitcoin')
        expect(bitcoin?.sources).toContain('binance')
        expect(Math.abs((await usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
        expect(await rateOf('usdc_base')).not.toBeNull()
      })()
    },
  )

  it(
    'USDC off its peg is seen although Coinbase shows it as a dollar',
    story(async ({ simulator, cycle, rateOf }) => {
      simulator.setPrice('USDC', 0.93)
      await cycle.run()
      expect(await rateOf('usdc_base')).toBeNull()
      expect((await rateOf('usdt_tron'))?.sources).toContain('coinbase')
    }),
  )
})

describe('direct books in another fiat', () => {
  const alarms = ({ counted }: RateWorld) => counted.filter((entry) => entry.startsWith('rate_cross_check_total'))

  it(
    'agree with the price of two legs as long as all is well',
    story(async (world) => {
      await world.cycle.run()
      expect(alarms(world)).toEqual([])
    }),
  )

  it(
    'raise an alarm when they do not, and never enter the price',
    story(async (world) => {
      world.simulator.misbehave('bitstamp', 'flash_crash', 'GBP')
      world.simulator.misbehave('okx', 'flash_crash', 'BTC')
      await world.cycle.run()
      expect(alarms(world)).toEqual(
        expect.arrayContaining([
          'rate_cross_check_total bitstamp BTC/GBP',
          'rate_cross_check_total okx BTC/EUR',
          'rate_cross_check_total okx BTC/BRL',
        ]),
      )
      const rate = await world.rateOf('btc_bitcoin', 'EUR')
      expect(Math.abs(Number(rate?.fiatPerAsset) / 62_609.84 - 1)).toBeLessThan(0.005)
    }),
  )
})

describe('fiat tables', () => {
  it(
    'three days old do not count, and a currency with one source left has no price',
    story(async ({ simulator, cycle, rateOf }) => {
      simulator.misbehave('open-er-api', 'stale')
      await cycle.run()
      expect((await rateOf('btc_bitcoin', 'DOP'))?.fxSources).toEqual(['coinbase-fx', 'yadio'])
    }),
  )

  it.each(['zero', 'missing_pair', 'nan', 'null_side', 'commas', 'ten_times'] as const)(
    'with %s for one currency lose that currency only',
    async (fault) => {
      await story(async ({ simulator, cycle, rateOf }) => {
        simulator.misbehave('coinbase-fx', fault, 'CLP')
        await cycle.run()
        expect((await rateOf('btc_bitcoin', 'CLP'))?.fxSources).toEqual(['open-er-api', 'yadio'])
        expect((await rateOf('btc_bitcoin', 'DOP'))?.fxSources).toContain('coinbase-fx')
      })()
    },
  )

  it(
    'leave a currency without a price when only one of them has it, and the others keep theirs',
    story(async ({ simulator, cycle, rateOf }) => {
      simulator.misbehave('coinbase-fx', 'missing_pair', 'DOP')
      simulator.misbehave('yadio', 'missing_pair', 'DOP')
      await cycle.run()
      expect(await rateOf('btc_bitcoin', 'DOP')).toBeNull()
      expect(await rateOf('btc_bitcoin', 'CLP')).not.toBeNull()
    }),
  )

  it(
    'with the official peso in a crypto feed do not move the crypto peso',
    story(async ({ simulator, cycle, rateOf }) => {
      simulator.misbehave('yadio', 'other_peso')
      await cycle.run()
      const rate = await rateOf('usdt_tron', 'ARS')
      expect(Math.abs(Number(rate?.fiatPerAsset) / (0.9997 * 1_532) - 1)).toBeLessThan(0.002)
    }),
  )

  it.each(
    sampleOf(
      [
        ['wrong_unit', 'yadio'],
        ['future', 'yadio'],
        ['stale', 'yadio'],
        ['no_zone', 'bitso'],
        ['error_in_200', 'bitso'],
        ['error_in_200', 'open-er-api'],
        ['error_in_200', 'coinbase-fx'],
        ['error_in_200', 'yadio'],
        ['other_types', 'yadio'],
        ['other_types', 'coinbase-fx'],
        ['new_fields', 'open-er-api'],
        ['new_fields', 'dolar-api'],
      ] as const,
      2,
    ),
  )('%s at %s changes no price', async (fault, source) => {
    await story(async ({ simulator, cycle, rateOf }) => {
      simulator.misbehave(source, fault)
      await cycle.run()
      const price = async (fiat: 'MXN' | 'DOP' | 'ARS', series?: 'official') =>
        Number((await rateOf('usdt_tron', fiat, series))?.fiatPerAsset) / 0.9997
      expect(Math.abs((await price('MXN')) / 17.42 - 1)).toBeLessThan(0.002)
      expect(Math.abs((await price('DOP')) / 61.5 - 1)).toBeLessThan(0.002)
      expect(Math.abs((await price('ARS')) / 1_532 - 1)).toBeLessThan(0.002)
      expect(Math.abs((await price('ARS', 'official')) / 1_490 - 1)).toBeLessThan(0.002)
      const counts = (await rateOf('usdt_tron', 'DOP'))?.fxSources.includes(source)
      if (fault.startsWith('other') || fault.startsWith('new')) expect(counts).toBe(source !== 'dolar-api')
      else expect(counts).toBe(false)
    })()
  })
})
