import { describe, expect, it } from 'vitest'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { RateRequest, RateSnapshot } from '#shared/ports/rates.ts'
import { standIn } from '#test/support/stand-in.ts'
import { applySpread, createRateReader } from './read-rate.ts'

const AT = 1_800_000_000_000
const BTC_EUR: RateRequest = { asset: 'btc_bitcoin', fiat: 'EUR', arsSeries: 'crypto' }

function leg(price: string, oldestAt = AT) {
  return { price, sources: ['kraken', 'okx', 'bitstamp'], oldestAt }
}

const SNAPSHOT: RateSnapshot = {
  at: AT,
  guards: {},
  expected: {},
  sources: {},
  clockOffsetMs: null,
  usdPerSymbol: { BTC: leg('71253.5625', AT - 10_000) },
  fiatPerUsd: {
    USD: { price: '1', sources: [], oldestAt: AT },
    EUR: leg('0.87873462214411'),
    'ARS:crypto': leg('1532'),
  },
}

/** A reader over one snapshot that may be replaced, a clock that may be set, and the number of loads. */
function build(snapshot: RateSnapshot | null = SNAPSHOT) {
  const world = { now: AT, snapshot, loads: 0, requests: [] as number[] }
  const symbols: Readonly<Record<string, string>> = { btc_bitcoin: 'BTC', eth_base: 'ETH' }
  const reader = createRateReader({
    clock: { now: () => world.now },
    catalog: standIn({ asset: (id) => ({ symbol: symbols[id] }) as AssetInfo }),
    rates: {
      latest: async () => {
        world.loads += 1
        return world.snapshot
      },
      latestBefore: async (at, withinMs) => {
        world.requests.push(at, withinMs)
        return world.snapshot
      },
    },
  })
  return { world, reader }
}

const unavailable = expect.objectContaining({ code: 'RATES_UNAVAILABLE' })

describe('rateFor', () => {
  it('multiplies both legs exactly and says where they come from', async () => {
    const { reader } = build()
    expect(await reader.rateFor(BTC_EUR)).toEqual({
      asset: 'btc_bitcoin',
      fiat: 'EUR',
      fiatPerAsset: '62612.972319859225891875',
      fiatPerUsd: '0.87873462214411',
      snapshotAt: AT,
      observedAt: AT - 10_000,
      expiresAt: AT - 10_000 + 120_000,
      sources: ['kraken', 'okx', 'bitstamp'],
      fxSources: ['kraken', 'okx', 'bitstamp'],
    })
    expect((await reader.rateFor({ ...BTC_EUR, fiat: 'USD' })).fiatPerAsset).toBe('71253.5625')
  })

  // Money: a stale price never prices anything.
  it('is unavailable from the moment its oldest quote is 120 s old', async () => {
    const { reader, world } = build()
    world.now = AT + 109_999
    await expect(reader.rateFor(BTC_EUR)).resolves.toBeDefined()
    world.now = AT + 110_000
    await expect(reader.rateFor(BTC_EUR)).rejects.toEqual(unavailable)
  })

  // Money: the store's clock went back by an hour after the snapshot was published.
  it('never takes the price of a time that is still to come', async () => {
    const { reader, world } = build()
    world.now = AT - 2_000
    await expect(reader.rateFor(BTC_EUR)).resolves.toBeDefined()
    world.now = AT - 3_600_000
    await reader.rateFor(BTC_EUR).catch(() => undefined)
    expect(world.requests).toEqual([AT - 3_600_000, 86_400_000])
  })

  it('is unavailable without a snapshot, and for a symbol, a fiat or an ARS series that it does not hold', async () => {
    await expect(build(null).reader.rateFor(BTC_EUR)).rejects.toEqual(unavailable)
    const { reader } = build()
    await expect(reader.rateFor({ ...BTC_EUR, asset: 'eth_base' })).rejects.toEqual(unavailable)
    await expect(reader.rateFor({ ...BTC_EUR, fiat: 'GBP' })).rejects.toEqual(unavailable)
    await expect(reader.rateFor({ ...BTC_EUR, fiat: 'ARS', arsSeries: 'official' })).rejects.toEqual(unavailable)
    expect((await reader.rateFor({ ...BTC_EUR, fiat: 'ARS' })).fiatPerAsset).toBe('109160457.75')
  })

  it('loads once for everyone who asks within a second, and again after it', async () => {
    const { reader, world } = build()
    await Promise.all([reader.rateFor(BTC_EUR), reader.rateFor(BTC_EUR)])
    world.now = AT + 999
    await reader.rateFor(BTC_EUR)
    expect(world.loads).toBe(1)
    world.now = AT + 1_000
    await reader.rateFor(BTC_EUR)
    expect(world.loads).toBe(2)
  })

  it('sees the first snapshot at once', async () => {
    const { reader, world } = build(null)
    await expect(reader.rateFor(BTC_EUR)).rejects.toEqual(unavailable)
    world.snapshot = SNAPSHOT
    await expect(reader.rateFor(BTC_EUR)).resolves.toBeDefined()
  })
})

describe('rateAt', () => {
  it('asks for the 120 s before that moment and gives null where nothing was published', async () => {
    const { reader, world } = build()
    expect(await reader.rateAt({ ...BTC_EUR, at: AT + 5 })).toMatchObject({
      ...{ fiatPerAsset: '62612.972319859225891875', at: AT },
    })
    expect(world.requests).toEqual([AT + 5, 120_000])
    expect(await reader.rateAt({ ...BTC_EUR, fiat: 'GBP', at: AT })).toBeNull()
    expect(await build(null).reader.rateAt({ ...BTC_EUR, at: AT })).toBeNull()
  })
})

describe('applySpread', () => {
  // Money: a spread protects the merchant, so the price per unit falls and the amount due rises.
  it('lowers the price per unit exactly', () => {
    expect(applySpread('71253.5625', 0)).toBe('71253.5625')
    expect(applySpread('71253.5625', 50)).toBe('70897.2946875')
    expect(applySpread('1', 9_999)).toBe('0.0001')
  })

  it.each([-1, 0.5, 10_000, Number.NaN])('refuses %d basis points', (bps) => {
    expect(() => applySpread('1', bps)).toThrow(RangeError)
  })
})
