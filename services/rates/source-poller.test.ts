import { describe, expect, it } from 'vitest'
import { type DropReason, isQuote } from '#shared/domain/rates/quote.ts'
import type { HttpGetResult } from '#shared/runtime/http/http-get.ts'
import { createSourcePoller, type SourcePoller } from './source-poller.ts'
import { binance } from './sources/binance.ts'
import { bitso } from './sources/bitso.ts'
import { bitstamp } from './sources/bitstamp.ts'
import { coinbaseFx } from './sources/coinbase-fx.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }

function answer(body: string, extra: Partial<Extract<HttpGetResult, { outcome: 'answer' }>> = {}): HttpGetResult {
  return { outcome: 'answer', status: 200, body, retryAfterMs: null, ageSeconds: 0, ...extra }
}

/** A poller over scripted answers, its clock and the paths it asked for. */
function build(source: Parameters<typeof createSourcePoller>[0]['source'], reply: (url: string) => HttpGetResult) {
  const clock = { at: 1_800_000_000_000, now: () => clock.at }
  const requests: string[] = []
  const faults: string[] = []
  const logged: unknown[] = []
  const poller = createSourcePoller({
    source,
    baseUrl: 'http://source.test',
    timeoutMs: 1_000,
    clock,
    pause: async (ms) => {
      clock.at += ms
    },
    logger: { ...SILENT, warn: (fields: object) => void logged.push(fields) },
    metrics: {
      count: (name, labels) => void (name === 'rate_source_errors_total' && faults.push(labels?.['reason'] ?? '')),
      gauge() {},
      observe() {},
    },
    http: {
      get: async (url) => {
        requests.push(url)
        return reply(url)
      },
    },
  })
  return { poller, clock, requests, faults, logged }
}

const quotesOf = (poller: SourcePoller) => poller.readings().filter(isQuote)

/** Pairs without a price, by the reason. */
const droppedOf = (poller: SourcePoller, because: DropReason) =>
  poller.readings().flatMap((reading) => (!isQuote(reading) && reading.because === because ? [reading.base] : []))

const row = (price: string, now: number, pair = 'BTC/USD') =>
  `{"pair":"${pair}","bid":"${price}","ask":"${price}","timestamp":"${Math.floor(now / 1_000)}"}`

describe('a source poller', () => {
  it('says why it fails, with the system’s code, and since its first failure', async () => {
    let down = true
    const refused = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:443'), { code: 'ECONNREFUSED' })
    const { poller, clock } = build(bitstamp, () =>
      down
        ? { outcome: 'network', cause: new TypeError('failed', { cause: refused }) }
        : answer(`[${row('100', clock.at)}]`),
    )
    expect(poller.failing()).toBeNull()
    const since = clock.at
    for (let poll = 0; poll < 3; poll += 1) {
      await poller.poll()
      clock.at += 300_000
    }
    expect(poller.failing()).toEqual({ source: 'bitstamp', reason: 'network (ECONNREFUSED)', since })
    down = false
    await poller.poll()
    expect(poller.failing()).toBeNull()
  })

  it('keeps the last quotes when a poll fails, and doubles its pause up to five minutes', async () => {
    let down = false
    const { poller, clock, requests, faults } = build(bitstamp, () =>
      down ? { outcome: 'network', cause: new Error('refused') } : answer(`[${row('100', clock.at)}]`),
    )
    await poller.poll()
    down = true
    const pauses: number[] = []
    for (let round = 0; round < 7; round += 1) {
      await poller.poll()
      const before = requests.length
      const failedAt = clock.at
      while (requests.length === before) {
        clock.at += 1_000
        await poller.poll()
      }
      pauses.push((clock.at - failedAt) / 1_000)
    }
    expect(pauses.slice(0, 7)).toEqual([15, 30, 60, 120, 240, 300, 300].slice(0, 7))
    expect(quotesOf(poller)).toHaveLength(1)
    expect(new Set(faults)).toEqual(new Set(['network']))
  })

  it.each([
    [429, 30_000, 30_000, 'rate_limited'],
    [429, null, 15_000, 'rate_limited'],
    [418, 120_000, 120_000, 'forbidden'],
    [401, null, 15 * 60_000, 'forbidden'],
    [403, null, 15 * 60_000, 'forbidden'],
    [451, null, 15 * 60_000, 'forbidden'],
    [520, null, 15_000, 'http_status'],
    [302, null, 15_000, 'http_status'],
  ])('status %i with Retry-After %j waits %i ms', async (status, retryAfterMs, waitMs, reason) => {
    const { poller, clock, requests, faults } = build(bitstamp, () => answer('<html>', { status, retryAfterMs }))
    await poller.poll()
    clock.at += waitMs - 1
    await poller.poll()
    expect(requests).toHaveLength(1)
    clock.at += 1
    await poller.poll()
    expect(requests).toHaveLength(2)
    expect(faults[0]).toBe(reason)
  })

  it('asks a table again only when its pause is over', async () => {
    const { poller, clock, requests } = build(coinbaseFx, () =>
      answer('{"data":{"currency":"USD","rates":{"EUR":"0.9"}}}'),
    )
    await poller.poll()
    clock.at += 59_999
    await poller.poll()
    expect(requests).toHaveLength(1)
    clock.at += 1
    await poller.poll()
    expect(requests).toHaveLength(2)
  })

  // Money: what a source said an hour ago must not stay young because the store's clock was set back.
  it('asks again, and its quotes grow old, after the clock went back', async () => {
    let down = false
    const { poller, clock, requests } = build(bitstamp, () =>
      down ? { outcome: 'network', cause: new Error('refused') } : answer(`[${row('100', clock.at)}]`),
    )
    await poller.poll()
    down = true
    clock.at -= 3_600_000
    await poller.poll()
    expect(quotesOf(poller).map(({ receivedAt }) => receivedAt)).toEqual([clock.at])
    const stepAt = clock.at
    clock.at += 61_000
    await poller.poll()
    expect(requests.length).toBeGreaterThan(1)
    expect(quotesOf(poller).map(({ receivedAt }) => receivedAt)).toEqual([stepAt])
  })

  it('finds the one pair that fails a whole list, keeps the others and leaves it out for an hour', async () => {
    const { poller, clock, requests } = build(binance, (url) => {
      if (url.includes('/ticker/price')) return answer('', { status: 500 })
      const symbols: string[] = JSON.parse(new URL(url).searchParams.get('symbols') ?? '[]')
      if (symbols.includes('POLUSDT')) return answer('{"code":-1121,"msg":"Invalid symbol."}', { status: 400 })
      const price = String(100 + (clock.at % 7))
      return answer(JSON.stringify(symbols.map((symbol) => ({ symbol, bidPrice: price, askPrice: price }))))
    })
    await poller.poll()
    expect(quotesOf(poller)).toHaveLength(Object.keys(binance.pairs).length - 1)
    expect(quotesOf(poller).some((quote) => quote.base === 'POL')).toBe(false)
    const before = requests.length
    clock.at += 15_000
    await poller.poll()
    expect(requests.length).toBe(before + 1)
    clock.at += 60 * 60_000
    const later = requests.length
    await poller.poll()
    const lists = requests.slice(later).filter((url) => url.includes('bookTicker'))
    // Alone: a pair that is still unknown must not fail the others again.
    expect(lists.filter((url) => url.includes('POLUSDT')).map((url) => decodeURIComponent(url).includes(','))).toEqual([
      false,
    ])
    expect(droppedOf(poller, 'unlisted')).toEqual(['POL'])
  })

  it('gives no price to a pair that comes twice', async () => {
    const { poller, clock } = build(bitstamp, () =>
      answer(`[${row('100', clock.at)},${row('101', clock.at)},${row('1.3', clock.at, 'GBP/USD')}]`),
    )
    await poller.poll()
    expect(quotesOf(poller).map((quote) => quote.base)).toEqual(['GBP'])
  })

  it('forgets a feed that repeats itself for a minute, although its time stamps move', async () => {
    const { poller, clock, faults } = build(bitstamp, () => answer(`[${row('100', clock.at)}]`))
    for (let poll = 0; poll < 4; poll += 1) {
      await poller.poll()
      expect(quotesOf(poller)).toHaveLength(1)
      clock.at += 15_000
    }
    await poller.poll()
    expect(quotesOf(poller)).toEqual([])
    expect(faults).toEqual(['frozen'])
  })

  it('takes one quiet book, or a quiet market of pesos, for what it is', async () => {
    const time = (at: number) => new Date(at).toISOString().replace('.000Z', '+00:00')
    const { poller, clock, faults } = build(bitso, () =>
      answer(
        `{"success":true,"payload":[{"book":"usd_mxn","bid":"17.41","ask":"17.43","created_at":"${time(clock.at)}"}]}`,
      ),
    )
    for (let poll = 0; poll < 8; poll += 1) {
      await poller.poll()
      clock.at += 15_000
    }
    expect(quotesOf(poller)).toHaveLength(1)
    clock.at += 60 * 60_000
    await poller.poll()
    expect([quotesOf(poller), faults]).toEqual([[], ['frozen']])
    expect(droppedOf(poller, 'frozen')).toEqual(['USD', 'USDT', 'USDT'])
  })

  // Money: a table without a time, whose bitcoin stands still, is a dead one, on a weekend too.
  it('forgets a table whose bitcoin stood still for a quarter of an hour, and one without bitcoin after a day', async () => {
    const still = async (bitcoin: string, minutes: number) => {
      const table = () => answer(`{"data":{"currency":"USD","rates":{"DOP":"61.5"${bitcoin}}}}`)
      const { poller, clock, faults } = build(coinbaseFx, table)
      for (let minute = 0; minute <= minutes; minute += 1) {
        await poller.poll()
        clock.at += 60_000
      }
      return [quotesOf(poller).length, faults.length > 0]
    }
    expect(await still(',"BTC":"0.000014"', 14)).toEqual([1, false])
    expect(await still(',"BTC":"0.000014"', 15)).toEqual([0, true])
    expect(await still('', 23 * 60)).toEqual([1, false])
    expect(await still('', 24 * 60)).toEqual([0, true])
  })

  it('says of each pair why it has no price', async () => {
    const { poller, clock } = build(bitstamp, () =>
      answer(
        `[${row('100', clock.at)},${row('0', clock.at, 'ETH/USD')},${row('1', clock.at, 'GBP/USD').replace(/"timestamp":"\d+"/, '"timestamp":"soon"')}]`,
      ),
    )
    expect(droppedOf(poller, 'no_answer')).toHaveLength(14)
    await poller.poll()
    expect(droppedOf(poller, 'no_price')).toEqual(['ETH'])
    expect(droppedOf(poller, 'no_time')).toEqual(['GBP'])
    expect(droppedOf(poller, 'unlisted')).toHaveLength(11)
  })

  it('logs the beginning of a body that it cannot read, and not all of it', async () => {
    const { poller, logged } = build(bitstamp, () => answer(`<html>${'x'.repeat(10_000)}`))
    await poller.poll()
    expect(logged).toMatchObject([{ source: 'bitstamp', reason: 'bad_body', excerpt: `<html>${'x'.repeat(194)}` }])
  })

  it('takes an empty answer and one out of a stale cache for failures', async () => {
    const empty = build(bitstamp, () => answer('[]'))
    await empty.poller.poll()
    const cached = build(bitstamp, () => answer('[]', { ageSeconds: 31 }))
    await cached.poller.poll()
    expect([...empty.faults, ...cached.faults]).toEqual(['empty', 'stale_cache'])
  })
})
