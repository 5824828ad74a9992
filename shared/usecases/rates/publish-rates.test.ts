import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#shared/domain/money/money.ts'
import type { Quote } from '#shared/domain/rates/quote.ts'
import type { RateSnapshot } from '#shared/ports/rates.ts'
import { publishRates } from './publish-rates.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }

function build() {
  const world = { now: 1_800_000_000_000, confirms: null as boolean | null, requests: [] as string[] }
  const stored: RateSnapshot[] = []
  const publish = (quotes: readonly Quote[]) =>
    publishRates(
      {
        clock: { now: () => world.now },
        logger: SILENT,
        metrics: { count() {}, gauge() {}, observe() {} },
        jumpConfirmation: {
          agrees: async (symbol) => {
            world.requests.push(symbol)
            return world.confirms
          },
        },
        rates: {
          latest: async () => stored.toSorted((one, other) => one.at - other.at).at(-1) ?? null,
          latestBefore: async (at) => stored.findLast((snapshot) => snapshot.at <= at) ?? null,
          insert: async (snapshot) => void stored.push(snapshot),
        },
      },
      quotes,
    )
  const books = (prices: Readonly<Record<string, string>>, ageMs = 0): readonly Quote[] =>
    ['kraken', 'coinbase', 'bitstamp', 'okx'].flatMap((source) =>
      Object.entries(prices).map(([base, price]) => ({
        source,
        base,
        quote: 'USD',
        price: parseDecimal(price),
        feed: 'book' as const,
        receivedAt: world.now - ageMs,
        sourceAt: null,
      })),
    )
  return { world, stored, publish, books }
}

describe('publishRates', () => {
  it('publishes what has a quorum, with sources and ages, and USD as it is', async () => {
    const { publish, books, world } = build()
    const snapshot = await publish([...books({ BTC: '71250.00' }, 5_000), ...books({ ETH: '2140' }).slice(0, 2)])
    expect(snapshot?.usdPerSymbol).toEqual({
      BTC: { price: '71250', sources: ['bitstamp', 'coinbase', 'kraken', 'okx'], oldestAt: world.now - 5_000 },
    })
    expect(snapshot?.fiatPerUsd).toEqual({ USD: { price: '1', sources: [], oldestAt: world.now } })
  })

  it('keeps which source was left out, and when each was last heard, one of a useless quote too', async () => {
    const { publish, books, stored, world } = build()
    const [kraken, coinbase, bitstamp, okx] = books({ BTC: '71250' })
    if (kraken === undefined || coinbase === undefined || bitstamp === undefined || okx === undefined)
      throw new Error('4')
    const liar = { ...okx, source: 'okx', price: parseDecimal('99000'), receivedAt: world.now - 2_000 }
    const old = { ...okx, source: 'bitso', receivedAt: world.now - 3_600_000 }
    await publish([kraken, coinbase, bitstamp, liar, old])
    expect(stored[0]?.usdPerSymbol['BTC']).toMatchObject({
      sources: ['bitstamp', 'coinbase', 'kraken'],
      outliers: ['okx'],
    })
    const { now } = world
    const used = { heardAt: now, expected: 1, used: 1, dropped: {} }
    expect(stored[0]?.sources).toEqual({
      ...{ kraken: used, coinbase: used, bitstamp: used },
      okx: { heardAt: now - 2_000, expected: 1, used: 0, dropped: { 'BTC/USD': 'outlier' } },
      bitso: { heardAt: now - 3_600_000, expected: 1, used: 0, dropped: { 'BTC/USD': 'no_answer' } },
    })
    expect(stored[0]?.expected).toEqual({ BTC: 5 })
  })

  // Money: a first price has no history to be compared with, and all sources together may be wrong about it.
  it.each([
    ['EUR', '100000000000000000000'],
    ['EUR', '0.00000000000000000001'],
    ['BTC', '0.5'],
    ['BTC', '71250000000'],
  ])('publishes no first price of %s at %s dollars', async (name, price) => {
    const { publish, books } = build()
    const others = books({ ETH: '2140', GBP: '1.33' })
    const snapshot = await publish([...books({ [name]: price }), ...others])
    expect(snapshot?.usdPerSymbol).toEqual({ ETH: expect.anything() })
    expect(Object.keys(snapshot?.fiatPerUsd ?? {})).toEqual(['USD', 'GBP'])
    expect(snapshot?.guards[name]).toBeUndefined()
    expect(snapshot?.sources['kraken']?.dropped).toEqual({ [`${name}/USD`]: 'no_price' })
  })

  it('publishes nothing from quotes older than their limit', async () => {
    const { publish, books, stored } = build()
    expect(await publish(books({ BTC: '71250' }, 60_001))).toBeNull()
    expect(stored).toEqual([])
  })

  it('carries the memory of the guards from one snapshot to the next', async () => {
    const { publish, books, world } = build()
    await publish(books({ BTC: '100', ETH: '10' }))
    world.now += 15_000
    const held = await publish(books({ BTC: '80', ETH: '10' }))
    expect(Object.keys(held?.usdPerSymbol ?? {})).toEqual(['ETH'])
    world.now += 15_000
    const passed = await publish(books({ BTC: '80', ETH: '10' }))
    expect(passed?.usdPerSymbol['BTC']?.price).toBe('80')
  })

  // Money: two processes that overlap, or one that starts again, read the sources in one moment; that is one look at a jump and not two.
  it.each([0, 10, 3_000])('takes two cycles within %d ms for one', async (apartMs) => {
    const { publish, books, world } = build()
    await publish(books({ BTC: '100', ETH: '10' }))
    const cycle = async (laterMs: number) => {
      world.now += laterMs
      return (await publish(books({ BTC: '80', ETH: '10' })))?.usdPerSymbol['BTC']?.price
    }
    expect([await cycle(15_000), await cycle(apartMs), await cycle(apartMs)]).toEqual([undefined, undefined, undefined])
    expect([await cycle(12_000), await cycle(apartMs)]).toEqual(['80', '80'])
  })

  // Money: tables are requested once a minute, so one wrong response is in four cycles.
  it('takes what no source has said again for one look, and keeps what has passed', async () => {
    const { publish, books, world } = build()
    const cycle = async (price: string, ageMs: number) => {
      world.now += 15_000
      const tables = books({ EUR: price }, ageMs).map((quote) => ({ ...quote, feed: 'rolling' as const }))
      return (await publish([...books({ BTC: '100' }), ...tables]))?.fiatPerUsd['EUR']?.price
    }
    await cycle('1', 0)
    const held = [await cycle('0.8', 0), await cycle('0.8', 15_000), await cycle('0.8', 30_000)]
    expect(held).toEqual([undefined, undefined, undefined])
    expect([await cycle('0.8', 0), await cycle('0.8', 15_000), await cycle('0.8', 30_000)]).toEqual([
      '1.25',
      '1.25',
      '1.25',
    ])
  })

  it('remembers the price of a symbol through cycles in which it had none', async () => {
    const { publish, books, world } = build()
    await publish(books({ BTC: '100', ETH: '10' }))
    world.now += 15_000
    await publish(books({ ETH: '10' }))
    world.now += 15_000
    expect((await publish(books({ BTC: '1000', ETH: '10' })))?.usdPerSymbol['BTC']).toBeUndefined()
  })

  // Money: sources that are wrong alike must not set a price without a second opinion.
  it('asks for a second opinion only about a jump of more than 30 %, and publishes when it agrees twice', async () => {
    const { publish, books, world } = build()
    await publish(books({ BTC: '1000' }))
    expect((await publish(books({ BTC: '500' })))?.usdPerSymbol).toEqual({})
    world.now += 15_000
    expect((await publish(books({ BTC: '500' })))?.usdPerSymbol).toEqual({})
    expect(world.requests).toEqual(['BTC', 'BTC'])
    world.now += 15_000
    world.confirms = true
    expect((await publish(books({ BTC: '500' })))?.usdPerSymbol['BTC']?.price).toBe('500')
    await publish(books({ BTC: '510' }))
    expect(world.requests).toHaveLength(3)
  })

  // Money: a second opinion that contradicts stops what two cycles would let pass.
  it('holds back a move of 20 % for as long as the second opinion contradicts it', async () => {
    const { publish, books, world } = build()
    await publish(books({ BTC: '100' }))
    world.confirms = false
    for (let cycle = 0; cycle < 4; cycle += 1) {
      world.now += 15_000
      expect((await publish(books({ BTC: '80' })))?.usdPerSymbol).toEqual({})
    }
    world.confirms = null
    world.now += 15_000
    expect((await publish(books({ BTC: '80' })))?.usdPerSymbol['BTC']?.price).toBe('80')
  })

  // Money: a price that a guard doubts computes no other one.
  it.each(['USDT', 'USDC'])('converts no book with a jump of %s that nobody confirmed', async (leg) => {
    const { publish, books, world } = build()
    const cycle = (price: string) => {
      const quoted = books({ BTC: '100' }).map((quote) => ({ ...quote, quote: leg }))
      const real = books({ USDT: '1' })
        .slice(0, 2)
        .map((quote) => ({ ...quote, quote: 'BRL', price: parseDecimal('5') }))
      return publish([...books({ [leg]: price, ETH: '10' }), ...quoted, ...(leg === 'USDT' ? real : [])])
    }
    const before = await cycle('1')
    expect(before?.usdPerSymbol['BTC']?.price).toBe('100')
    for (let round = 0; round < 3; round += 1) {
      world.now += 15_000
      const snapshot = await cycle('1.35')
      expect(Object.keys(snapshot?.usdPerSymbol ?? {})).toEqual(['ETH'])
      expect(Object.keys(snapshot?.fiatPerUsd ?? {})).toEqual(['USD'])
      expect(snapshot?.sources['okx']?.dropped).toMatchObject({ [`BTC/${leg}`]: 'peg' })
    }
  })

  it('leaves a stablecoin off its peg out and still turns tether books into dollars by its market price', async () => {
    const { publish, books } = build()
    const tether = books({ BTC: '100' }).map((quote) => ({ ...quote, quote: 'USDT' }))
    const snapshot = await publish([...books({ USDT: '0.9' }), ...tether])
    expect(Object.keys(snapshot?.usdPerSymbol ?? {})).toEqual(['BTC'])
    expect(snapshot?.usdPerSymbol['BTC']?.price).toBe('90')
  })
})
