import { describe, expect, it } from 'vitest'
import type { FaultKind } from '#scripts/exchange-simulator/faults.ts'
import type { SimulatedSource } from '#scripts/exchange-simulator/simulator.ts'
import { type RateWorld, useRateWorlds } from '#test/support/rate-world.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const story = useRateWorlds(stores)

/** The source gives nothing, for this reason, and pauses. */
const failed = (reason: string) => ({ bitcoin: false, ether: false, reason })
/** The pair of bitcoin is left out, the others of the source stay. */
const DROPPED = { bitcoin: false, ether: true, reason: null }
const KEPT = { bitcoin: true, ether: true, reason: null }
/** No pair of the source counts, and the source as such did not fail. */
const UNUSED = { bitcoin: false, ether: false, reason: null }

type Reaction = ReturnType<typeof failed> | typeof DROPPED | typeof KEPT | typeof UNUSED
type Row = readonly [fault: FaultKind, source: SimulatedSource, symbol: string | null, expected: Reaction]

const ROWS: readonly Row[] = [
  // Something else in place of the answer.
  ['html', 'kraken', null, failed('bad_body')],
  ['html_as_json', 'bitstamp', null, failed('bad_body')],
  ['http_520', 'kraken', null, failed('http_status')],
  ['http_503', 'okx', null, failed('http_status')],
  ['http_500', 'bitfinex', null, failed('http_status')],
  ['error_in_200', 'kraken', null, failed('refused')],
  ['error_in_200', 'okx', null, failed('refused')],
  ['error_in_200', 'bitfinex', null, failed('refused')],
  ['error_in_200', 'binance', null, failed('refused')],
  ['error_in_200', 'bitstamp', null, failed('bad_body')],
  ['error_in_200', 'coinbase', null, failed('bad_body')],
  ['empty', 'kraken', null, failed('empty')],
  ['empty', 'bitstamp', null, failed('empty')],
  ['empty', 'coinbase', null, failed('empty')],
  ['empty', 'bitfinex', null, failed('empty')],
  ['http_429', 'coinbase', null, failed('rate_limited')],
  ['http_429_date', 'coinbase', null, failed('rate_limited')],
  ['http_429_bare', 'coinbase', null, failed('rate_limited')],
  ['http_418', 'binance', null, failed('forbidden')],
  ['http_401', 'coinbase', null, failed('forbidden')],
  ['forbidden', 'okx', null, failed('forbidden')],
  ['http_451', 'binance', null, failed('forbidden')],
  ['redirect', 'kraken', null, failed('http_status')],
  // The connection.
  ['timeout', 'kraken', null, failed('timeout')],
  ['slow_body', 'okx', null, failed('timeout')],
  ['reset', 'bitstamp', null, failed('network')],
  ['broken_gzip', 'bitfinex', null, failed('network')],
  ['huge', 'okx', null, failed('too_large')],
  ['truncated', 'kraken', null, failed('bad_body')],
  // One pair.
  ['unknown_pair', 'kraken', 'BTC', DROPPED],
  ['unknown_pair', 'binance', 'BTC', DROPPED],
  ['missing_pair', 'okx', 'BTC', DROPPED],
  ['renamed_pair', 'kraken', 'BTC', DROPPED],
  ['renamed_pair', 'coinbase', 'BTC', DROPPED],
  ['duplicate_pair', 'bitstamp', 'BTC', DROPPED],
  ['crossed', 'kraken', 'BTC', DROPPED],
  ['locked', 'kraken', 'BTC', KEPT],
  ['wide', 'bitfinex', 'BTC', DROPPED],
  ['stale_last', 'bitstamp', 'BTC', KEPT],
  ['zero_bid', 'kraken', 'BTC', DROPPED],
  ['zero', 'binance', 'BTC', DROPPED],
  ['zero', 'coinbase', 'BTC', DROPPED],
  ['negative', 'okx', 'BTC', DROPPED],
  ['negative', 'bitfinex', 'BTC', DROPPED],
  ['nan', 'okx', 'BTC', DROPPED],
  ['null_side', 'bitfinex', 'BTC', DROPPED],
  ['null_side', 'kraken', 'BTC', DROPPED],
  ['blank_side', 'okx', 'BTC', DROPPED],
  ['commas', 'bitstamp', 'BTC', DROPPED],
  ['commas', 'bitfinex', 'BTC', DROPPED],
  ['exponents', 'bitfinex', 'BTC', KEPT],
  ['exponents', 'okx', 'BTC', KEPT],
  ['long_digits', 'binance', 'BTC', KEPT],
  // How the answer is written.
  ['other_types', 'okx', null, KEPT],
  ['other_types', 'bitfinex', null, KEPT],
  ['other_types', 'kraken', null, KEPT],
  ['new_fields', 'okx', null, KEPT],
  ['new_fields', 'kraken', null, KEPT],
  ['new_fields', 'bitstamp', null, KEPT],
  // Its time.
  ['stale', 'bitstamp', null, failed('stale_cache')],
  ['stale', 'kraken', null, failed('stale_cache')],
  ['future', 'okx', null, UNUSED],
  ['wrong_unit', 'bitstamp', null, UNUSED],
  ['wrong_unit', 'okx', null, UNUSED],
  // A price that is wrong.
  ['ten_times', 'kraken', 'BTC', DROPPED],
  ['hundred_times', 'binance', 'BTC', DROPPED],
  ['inverse', 'bitfinex', 'BTC', DROPPED],
  ['euros_as_dollars', 'bitstamp', 'BTC', DROPPED],
  ['flash_crash', 'okx', 'BTC', DROPPED],
]

describe('a source that misbehaves alone', () => {
  // Money: whatever one source answers, the price is that of the others.
  it.each(ROWS)('%s at %s for %j', async (fault, source, symbol, expected) => {
    await story(async ({ simulator, cycle, rateOf, usdOf, counted }) => {
      simulator.misbehave(source, fault, symbol ?? undefined)
      await cycle.run()
      const uses = async (asset: 'btc_bitcoin' | 'eth_ethereum') => (await rateOf(asset))?.sources.includes(source)
      const prefix = `rate_source_errors_total ${source} `
      const reasons = counted.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length))
      expect({
        bitcoin: await uses('btc_bitcoin'),
        ether: await uses('eth_ethereum'),
        reason: reasons[0] ?? null,
      }).toEqual(expected)
      expect(Math.abs((await usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
      expect(Math.abs((await usdOf('eth_ethereum')) / 2_140 - 1)).toBeLessThan(0.005)
    })()
  })

  it('that nobody can reach', async () => {
    await story(
      async ({ cycle, rateOf, counted }) => {
        await cycle.run()
        expect((await rateOf('btc_bitcoin'))?.sources).not.toContain('kraken')
        expect(counted).toContain('rate_source_errors_total kraken network')
      },
      { sourceUrls: { kraken: 'http://127.0.0.1:1' } },
    )()
  })

  it('by repeating itself for a minute, although its time stamps move', async () => {
    await story(async ({ simulator, cycle, later, rateOf }) => {
      simulator.misbehave('kraken', 'frozen')
      for (let poll = 0; poll < 5; poll += 1) {
        await cycle.run()
        later(15_000)
      }
      expect((await rateOf('btc_bitcoin'))?.sources).not.toContain('kraken')
    })()
  })
})

describe('several sources that are wrong alike', () => {
  const wrong = (world: RateWorld, ...sources: readonly SimulatedSource[]) => {
    for (const source of sources) world.simulator.misbehave(source, 'ten_times', 'BTC')
  }

  it(
    'as a minority are outliers',
    story(async (world) => {
      wrong(world, 'kraken', 'okx')
      await world.cycle.run()
      expect(Math.abs((await world.usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
    }),
  )

  it(
    'as a half leave no price: nobody knows which half is right',
    story(async (world) => {
      wrong(world, 'kraken', 'okx', 'binance')
      await world.cycle.run()
      expect(await world.rateOf('btc_bitcoin')).toBeNull()
      expect(await world.rateOf('eth_base')).not.toBeNull()
    }),
  )

  it(
    // Money: a median cannot see a majority that is wrong, so the jump and the aggregator hold it back.
    'as a majority are held back for as long as the aggregator disagrees',
    story(async (world) => {
      await world.cycle.run()
      wrong(world, 'kraken', 'okx', 'binance', 'bitfinex')
      for (let round = 0; round < 4; round += 1) {
        world.later(15_000)
        await world.cycle.run()
        expect(await world.rateOf('btc_bitcoin')).toBeNull()
      }
      expect(world.counted).toContain('rate_guard_total BTC jump_refused')
      world.simulator.heal()
      world.later(15_000)
      await world.cycle.run()
      expect(Math.abs((await world.usdOf('btc_bitcoin')) / 71_250 - 1)).toBeLessThan(0.005)
    }),
  )
})

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

  it(
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

  it.each([
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
  ] as const)('%s at %s changes no price', async (fault, source) => {
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
