import { describe, expect, it } from 'vitest'
import type { FaultKind } from '#dev/exchange-simulator/faults.ts'
import { type SimulatedSource, startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import type { RateSnapshot } from '#shared/ports/rates.ts'
import { createHttpGet } from '#shared/runtime/http/http-get.ts'
import { publishRates } from '#shared/usecases/rates/publish-rates.ts'
import { rateHealth } from '#shared/usecases/rates/rate-health.ts'
import { createRateSources } from './rate-sources.ts'

interface Scene {
  readonly faults?: readonly (readonly [SimulatedSource, FaultKind, ...string[]])[]
  /** How far the clocks of all sources are ahead of ours. */
  readonly aheadMs?: number
}

interface Outcome {
  readonly snapshot: RateSnapshot
  /** Counters and gauges of the cycle, as `name label label` and `name label = value`. */
  readonly counted: readonly string[]
  readonly logged: readonly string[]
}

/** One cycle of the real sources on the simulator. */
async function cycleOf({ faults = [], aheadMs = 0 }: Scene): Promise<Outcome> {
  const at = Date.UTC(2026, 10, 28, 12)
  const simulator = await startExchangeSimulator({ port: 0, now: () => at + aheadMs })
  const http = createHttpGet({ userAgent: 'Paymesh-Test/1.0' })
  const counted: string[] = []
  const logged: string[] = []
  const log = (_fields: object, message: string) => void logged.push(message)
  const logger = { debug() {}, info() {}, warn: log, error: log, child: () => logger }
  const labelled = (name: string, labels: object = {}) => [name, ...Object.values(labels)].join(' ')
  const metrics = {
    count: (name: string, labels?: object) => void counted.push(labelled(name, labels)),
    gauge: (name: string, value: number, labels?: object) => void counted.push(`${labelled(name, labels)} = ${value}`),
    observe() {},
  }
  const stored: RateSnapshot[] = []
  const rates = {
    insert: async (snapshot: RateSnapshot) => void stored.push(snapshot),
    latest: async () => null,
    latestBefore: async () => null,
  }
  const clock = { now: () => at }
  for (const [source, fault, symbol] of faults) simulator.misbehave(source, fault, symbol)
  try {
    const sources = createRateSources({
      ...{ http, clock, logger, metrics, timeoutMs: 20_000, pause: async () => undefined },
      sourceUrls: simulator.sourceUrls,
    })
    await publishRates(
      { clock, logger, metrics, rates, jumpConfirmation: { agrees: async () => null } },
      await sources.poll(),
    )
  } finally {
    await simulator.stop()
    await http.close()
  }
  const [snapshot] = stored
  if (snapshot === undefined) throw new Error(`nothing was published: ${logged.join('; ')}`)
  return { snapshot, counted, logged }
}

const votes = ({ snapshot }: Outcome, name: string) => snapshot.usdPerSymbol[name]?.sources.length ?? 0

// Guarantee: a source that responds and is not used is seen: in the snapshot, in the counters and in words.
describe('health is use', () => {
  it('has nothing to say about the world of today', async () => {
    const { snapshot, counted } = await cycleOf({})
    expect(rateHealth(snapshot)).toEqual({ faults: [], warnings: [] })
    expect(counted.filter((entry) => entry.startsWith('rate_pair_dropped_total'))).toEqual([])
    expect(snapshot.expected).toMatchObject({
      BTC: 6,
      USDT: 5,
      USDC: 5,
      TRX: 5,
      BNB: 5,
      DOP: 3,
      EUR: 3,
      'ARS:crypto': 3,
    })
    for (const [rate, expected] of Object.entries(snapshot.expected)) {
      const used = (snapshot.usdPerSymbol[rate] ?? Object(snapshot.fiatPerUsd)[rate])?.sources.length
      expect([rate, used]).toEqual([rate, expected])
    }
  })

  it('counts each rate, fiat series included, with what it has, should have and needs', async () => {
    const { counted } = await cycleOf({ faults: [['coinbase-fx', 'missing_pair', 'DOP']] })
    expect(counted).toEqual(
      expect.arrayContaining([
        ...['rate_sources DOP = 2', 'rate_sources_expected DOP = 3', 'rate_sources_min DOP = 2'],
        ...['rate_sources BTC = 6', 'rate_sources_expected BTC = 6', 'rate_sources_min BTC = 3'],
        ...['rate_pair_used coinbase-fx USD/DOP = 0', 'rate_pair_used coinbase-fx USD/CLP = 1'],
      ]),
    )
  })

  const CASES: readonly (readonly [SimulatedSource, FaultKind, string | undefined, string, string])[] = [
    ...(['kraken', 'coinbase', 'bitstamp', 'bitfinex'] as const).map(
      (source) => [source, 'missing_pair', 'POL', 'POL/USD', source === 'kraken' ? 'missing' : 'unlisted'] as const,
    ),
    ['okx', 'missing_pair', 'POL', 'POL/USDC', 'unlisted'],
    ['binance', 'missing_pair', 'POL', 'POL/USDT', 'unlisted'],
    ['okx', 'renamed_pair', 'BTC', 'BTC/USDC', 'unlisted'],
    ['bitstamp', 'wrong_unit', undefined, 'BTC/USD', 'unit'],
    ['okx', 'wrong_unit', undefined, 'BTC/USDC', 'unit'],
    ['bitstamp', 'future', undefined, 'BTC/USD', 'clock'],
    ['bitso', 'no_zone', undefined, 'USD/MXN', 'no_time'],
    ['dolar-api', 'future', undefined, 'USD/ARS:official', 'clock'],
    ['yadio', 'future', undefined, 'USD/DOP', 'clock'],
    ['yadio', 'stale', undefined, 'USD/DOP', 'no_answer'],
    ['open-er-api', 'missing_pair', 'DOP', 'USD/DOP', 'unlisted'],
    ['coinbase', 'cancel_only', 'POL', 'POL/USD', 'halted'],
    ['coinbase', 'view_only', 'POL', 'POL/USD', 'halted'],
    ['coinbase', 'auction_mode', 'POL', 'POL/USD', 'halted'],
    ['kraken', 'unknown_pair', 'POL', 'POL/USD', 'unlisted'],
    ['kraken', 'crossed', 'POL', 'POL/USD', 'no_price'],
    ['bitfinex', 'null_side', 'POL', 'POL/USD', 'no_price'],
    ['kraken', 'ten_times', 'POL', 'POL/USD', 'outlier'],
    ['bitstamp', 'duplicate_pair', 'POL', 'POL/USD', 'duplicate'],
    ['kraken', 'forbidden', undefined, 'BTC/USD', 'no_answer'],
  ]
  it.each(CASES)('%s with %s for %s: %s is dropped because %s', async (source, fault, symbol, pair, reason) => {
    const { snapshot, counted } = await cycleOf({
      faults: [[source, fault, ...(symbol === undefined ? [] : [symbol])]],
    })
    expect(snapshot.sources[source]?.dropped).toMatchObject({ [pair]: reason })
    expect(counted).toContain(`rate_pair_dropped_total ${source} ${pair} ${reason}`)
    expect(rateHealth(snapshot).warnings.some((text) => text.startsWith(`${source}: `) && text.includes(pair))).toBe(
      true,
    )
  })

  it('drops the books in a stablecoin without a price because of its peg', async () => {
    const faults = (['kraken', 'coinbase', 'bitstamp'] as const).map(
      (source) => [source, 'missing_pair', 'USDT'] as const,
    )
    const { snapshot } = await cycleOf({ faults })
    expect(snapshot.sources['binance']?.dropped).toMatchObject({ 'BTC/USDT': 'peg', 'USDT/BRL': 'peg' })
    expect(snapshot.sources['okx']?.dropped).toMatchObject({ 'USDC/USDT': 'peg', 'USDT/BRL': 'peg' })
  })

  // Our clock is six seconds behind, or more than a minute ahead: the sources with a time fall away, and it is named.
  it.each([
    [6_000, 'behind'],
    [30_000, 'behind'],
    [-70_000, 'ahead of'],
  ])('names a clock that differs by %i ms as the cause', async (aheadMs, side) => {
    const outcome = await cycleOf({ aheadMs })
    expect(outcome.snapshot.clockOffsetMs).toBeGreaterThan(aheadMs - 1_000)
    expect(outcome.snapshot.clockOffsetMs).toBeLessThanOrEqual(aheadMs)
    expect(outcome.snapshot.sources['bitstamp']).toMatchObject({ used: 0 })
    expect([votes(outcome, 'BTC'), votes(outcome, 'USDC')]).toEqual([4, 3])
    expect(rateHealth(outcome.snapshot).faults.join()).toContain(
      `seconds ${side}`.replace('seconds', `${Math.abs(aheadMs) / 1_000} s`),
    )
    expect(outcome.logged).toContain('the clock of this installation differs from those of the price sources')
  })

  it.each([0, 1_500, -3_000])('says nothing about clocks that differ by %i ms', async (aheadMs) => {
    const { snapshot } = await cycleOf({ aheadMs })
    expect(rateHealth(snapshot).faults).toEqual([])
  })

  it('does not take one source with a wrong time for our clock', async () => {
    const { snapshot } = await cycleOf({ faults: [['okx', 'future']] })
    expect(Math.abs(snapshot.clockOffsetMs ?? 0)).toBeLessThan(1_500)
  })
})

describe('what OKX lists', () => {
  it('is read in USDC today, and its coins do not hang on USDT', async () => {
    const { snapshot } = await cycleOf({ faults: [['okx', 'missing_pair', 'USDC']] })
    expect(snapshot.usdPerSymbol['BTC']?.sources).toContain('okx')
    expect(snapshot.sources['okx']?.dropped).toEqual({ 'USDC/USDT': 'unlisted' })
  })
})
