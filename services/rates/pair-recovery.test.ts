import { describe, expect, it } from 'vitest'
import { isFresh, isQuote } from '#shared/domain/rates/quote.ts'
import { createSourcePoller } from './source-poller.ts'
import { kraken } from './sources/kraken.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }
const KEYS: Readonly<Record<string, string>> = {
  ...{ XBTUSD: 'XXBTZUSD', LTCUSD: 'XLTCZUSD', ETHUSD: 'XETHZUSD', USDTUSD: 'USDTZUSD' },
  ...{ EURUSD: 'ZEURZUSD', GBPUSD: 'ZGBPZUSD' },
}
const UNKNOWN = '{"error":["EQuery:Unknown asset pair"]}'
const LIMITED = '{"error":["EAPI:Rate limit exceeded"]}'
const NAMES = Object.keys(kraken.pairs)

/** Kraken with its limit of one call a second, after `burst` at once, and whatever `state` says. */
function build({ burst = 1 } = {}) {
  const clock = { at: 1_800_000_000_000, now: () => clock.at }
  const state = { unlisted: new Set<string>(), isSick: false, lists: false, calls: 0, limited: 0 }
  let tokens = burst
  let last = clock.at
  let tick = 0
  const listing = () => {
    const rows = NAMES.map((name) => [
      name,
      { altname: name, status: state.unlisted.has(name) ? 'delisted' : 'online' },
    ])
    return JSON.stringify({ error: [], result: Object.fromEntries(rows) })
  }
  const ticker = (names: readonly string[]) => {
    tick += 1
    const row = { a: [`${100 + tick}.1`], b: [`${100 + tick}.0`] }
    return JSON.stringify({ error: [], result: Object.fromEntries(names.map((name) => [KEYS[name] ?? name, row])) })
  }
  const body = (url: string): string => {
    tokens = Math.min(burst, tokens + (clock.at - last) / 1_000)
    last = clock.at
    state.calls += 1
    if (tokens < 1) {
      state.limited += 1
      return LIMITED
    }
    tokens -= 1
    if (url.includes('AssetPairs')) return state.lists ? listing() : '{"error":["EGeneral:Internal error"]}'
    const names = (url.split('pair=')[1] ?? '').split(',')
    return state.isSick || names.some((name) => state.unlisted.has(name)) ? UNKNOWN : ticker(names)
  }
  let spentMs = 0
  const poller = createSourcePoller({
    ...{ source: kraken, baseUrl: '', timeoutMs: 4_000, clock, logger: SILENT },
    metrics: { count() {}, gauge() {}, observe() {} },
    // A poll has four seconds, as a real one: the deadline ends the pause that would exceed it.
    pause: async (ms) => {
      spentMs += ms
      if (spentMs >= 4_000) throw new DOMException('deadline', 'TimeoutError')
      clock.at += ms
    },
    http: {
      get: async (url) => ({ outcome: 'answer', status: 200, body: body(url), retryAfterMs: null, ageSeconds: 0 }),
    },
  })
  const cycle = async (seconds = 15) => {
    const endsAt = clock.at + seconds * 1_000
    spentMs = 0
    await poller.poll()
    clock.at = Math.max(clock.at, endsAt)
  }
  const fresh = () => poller.readings().filter((reading) => isQuote(reading) && isFresh(reading, clock.at))
  return { state, cycle, fresh, poller }
}

/** Cycles until so many pairs are fresh again; 99 when they never are. */
async function cyclesUntil(world: ReturnType<typeof build>, pairs: number): Promise<number> {
  for (let cycle = 1; cycle < 40; cycle += 1) {
    await world.cycle()
    if (world.fresh().length === pairs) return cycle
  }
  return 99
}

describe('one pair that Kraken no longer has', () => {
  it.each(NAMES)('%s costs itself alone, at one call a second and without a list of pairs', async (name) => {
    const world = build()
    world.state.unlisted.add(name)
    expect(await cyclesUntil(world, NAMES.length - 1)).toBeLessThanOrEqual(6)
    for (let cycle = 0; cycle < 20; cycle += 1) {
      await world.cycle()
      expect(world.fresh()).toHaveLength(NAMES.length - 1)
    }
    expect(world.state.limited).toBe(0)
  })

  it.each([1, 3, 5, 7, 12])('is found whatever the burst of its limit is: %i', async (burst) => {
    const world = build({ burst })
    world.state.unlisted.add('POLUSD')
    expect(await cyclesUntil(world, NAMES.length - 1)).toBeLessThanOrEqual(6)
  })

  it('is found at once where the list of pairs can be read, at start, when it is refused and once a day', async () => {
    const world = build()
    world.state.lists = true
    world.state.unlisted.add('POLUSD')
    expect(await cyclesUntil(world, NAMES.length - 1)).toBe(1)
    world.state.unlisted.add('TRXUSD')
    await world.cycle(700)
    expect(await cyclesUntil(world, NAMES.length - 2)).toBe(1)
    world.state.unlisted.clear()
    await world.cycle(24 * 3_600)
    expect(await cyclesUntil(world, NAMES.length)).toBeLessThanOrEqual(2)
  })

  it('is back within the hour when its market was closed for minutes, however many were', async () => {
    const world = build()
    world.state.lists = true
    for (const name of NAMES.slice(1)) world.state.unlisted.add(name)
    expect(await cyclesUntil(world, 1)).toBe(1)
    world.state.unlisted.clear()
    for (let cycle = 0; cycle < 241; cycle += 1) await world.cycle()
    expect(await cyclesUntil(world, NAMES.length)).toBe(1)
  })

  it('is asked for again each hour, without the others, and is back when Kraken has it', async () => {
    const world = build()
    world.state.unlisted.add('POLUSD')
    await cyclesUntil(world, NAMES.length - 1)
    for (let cycle = 0; cycle < 300; cycle += 1) {
      await world.cycle()
      expect(world.fresh().length).toBe(NAMES.length - 1)
    }
    world.state.unlisted.clear()
    for (let cycle = 0; cycle < 245; cycle += 1) await world.cycle()
    expect(world.fresh()).toHaveLength(NAMES.length)
  })
})

describe('a minute in which Kraken refuses everything', () => {
  it.each([1, 2, 3, 4, 6, 8])('teaches nothing about its pairs after %i cycles', async (sick) => {
    const world = build()
    await world.cycle()
    world.state.isSick = true
    for (let cycle = 0; cycle < sick; cycle += 1) await world.cycle()
    world.state.isSick = false
    const seconds = 15 * (await cyclesUntil(world, NAMES.length))
    expect(seconds).toBeLessThanOrEqual(5 * 60)
  })

  it('does not make a pair unknown that was refused meanwhile, while another one really is', async () => {
    const world = build()
    world.state.unlisted.add('POLUSD')
    await world.cycle()
    world.state.isSick = true
    await world.cycle()
    await world.cycle()
    world.state.isSick = false
    expect(await cyclesUntil(world, NAMES.length - 1)).toBeLessThan(20)
  })
})
