import { describe, expect, it } from 'vitest'
import type { FaultKind } from '#dev/exchange-simulator/faults.ts'
import type { SimulatedSource } from '#dev/exchange-simulator/simulator.ts'
import { oneOfEach, sampleOf } from '#test/support/depth.ts'
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

/** What a source does that never ends its answer: only its time ends it. */
const ENDLESS: readonly FaultKind[] = ['timeout', 'slow_body']

describe('a source that misbehaves alone', () => {
  // Money: whatever one source answers, the price is that of the others.
  it.each(
    sampleOf(
      oneOfEach(ROWS, ([fault]) => fault),
      2,
    ),
  )('%s at %s for %j', async (fault, source, symbol, expected) => {
    await story(
      async ({ simulator, cycle, rateOf, usdOf, counted }) => {
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
      },
      ENDLESS.includes(fault) ? { timeoutMs: 2_500 } : {},
    )()
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
