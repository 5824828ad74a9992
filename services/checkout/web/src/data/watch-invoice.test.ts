import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { meaningOf } from '../format/problem-text.ts'
import { type InvoiceWatch, type PageState, watchInvoice } from './watch-invoice.ts'

/** The browser's connection, which never notices that nothing arrives any more. */
class Line extends EventTarget {
  static readonly CLOSED = 2
  static readonly OPEN = 1
  static opened: Line[] = []
  readyState = Line.OPEN
  readonly url: string
  constructor(url: string) {
    super()
    this.url = url
    Line.opened.push(this)
  }
  close(): void {
    this.readyState = Line.CLOSED
  }
  ping(): void {
    this.dispatchEvent(new MessageEvent('ping', { data: `{"now":${Date.now() + storeAhead}}` }))
  }
}

const said = (code: string) => ({ error: { code, details: [] } })
/** Answers without data: status, body and seconds to wait. Only `unknown` is our server's own word on the id. */
const REFUSALS = {
  unknown: [404, said('NOT_FOUND'), null],
  busy: [429, said('RATE_LIMITED'), '60'],
  'store away': [503, said('INTERNAL_ERROR'), '5'],
  'a proxy without a route': [404, { message: 'no route' }, null],
  'a proxy that wants a password': [401, {}, null],
  'a proxy that says gone': [410, 'Gone', null],
  'a proxy without a server': [502, '<html>Bad Gateway</html>', null],
} as const

const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
const device = { onLine: true }
let reads: string[]
/** How the server answers a read. */
let answerWith: 'view' | 'unchanged' | 'refused' | 'hangs' | keyof typeof REFUSALS
/** The store's clock is ahead of the device's by this. */
let storeAhead: number
let shown: PageState | null
let watch: InvoiceWatch

beforeEach(async () => {
  vi.useFakeTimers()
  Line.opened = []
  reads = []
  answerWith = 'view'
  storeAhead = 0
  shown = null
  Object.assign(page, { visibilityState: 'visible' })
  device.onLine = true
  vi.stubGlobal('EventSource', Line)
  vi.stubGlobal('document', page)
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('navigator', device)
  vi.stubGlobal('fetch', async (url: string) => {
    reads.push(url)
    if (answerWith === 'refused') throw new TypeError('offline')
    if (answerWith === 'hangs') await new Promise(() => {})
    if (answerWith in REFUSALS) {
      const [status, body, wait] = REFUSALS[answerWith as keyof typeof REFUSALS]
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return new Response(text, { status, headers: wait === null ? {} : { 'Retry-After': wait } })
    }
    const now = Date.now() + storeAhead
    if (answerWith === 'unchanged')
      return new Response(null, { status: 304, headers: { Date: new Date(now).toUTCString() } })
    return Response.json({ now, view: { version: 1 } as InvoiceView })
  })
  watch = watchInvoice('7', (state) => {
    shown = state
  })
  await vi.advanceTimersByTimeAsync(0)
})
afterEach(() => {
  watch.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const silence = async (ms: number) => {
  for (let left = ms; left > 0; left -= 2_500) await vi.advanceTimersByTimeAsync(Math.min(left, 2_500))
}
const living = () => Line.opened.filter(({ readyState }) => readyState === Line.OPEN)

// Guarantee: a connection that is dead without a word is replaced, although the browser calls it open; until then the page asks itself.
it('opens another connection after 20 s without a message, and none while messages arrive', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    await silence(4_000)
    living()[0]?.ping()
  }
  expect(Line.opened).toHaveLength(1)
  expect(reads).toHaveLength(1)
  await silence(19_000)
  expect(Line.opened).toHaveLength(1)
  expect(reads.length).toBeGreaterThan(2)
  expect(shown?.away).toBeNull()
  await silence(2_500)
  expect(Line.opened).toHaveLength(2)
  expect(living()).toEqual([Line.opened[1]])
})

// Guarantee: whatever hangs, the page says within ten seconds that it is older than that, and takes it back with the first answer.
it.each(['refused', 'hangs', 'busy'] as const)('says within 10 s that it lost the connection: %s', async (how) => {
  living()[0]?.ping()
  answerWith = how
  await silence(5_000)
  expect(shown?.away).toBeNull()
  await silence(5_000)
  expect(shown?.view).not.toBeNull()
  expect(shown?.away?.status).toBe({ refused: 0, hangs: 0, busy: 429 }[how])
  const before = reads.length
  await silence(how === 'busy' ? 20_000 : 10_000)
  // It waits for as long as it was told.
  if (how === 'busy') expect(reads).toHaveLength(before)
  answerWith = 'view'
  living().at(-1)?.ping()
  expect(shown?.away).toBeNull()
})

it.each([
  ['window', 'pageshow'],
  ['window', 'online'],
  ['window', 'focus'],
  ['document', 'visibilitychange'],
  ['document', 'resume'],
] as const)('requests at once when it comes back: %s %s', async (target, name) => {
  Object.assign(page, { visibilityState: 'hidden' })
  await silence(7_500)
  const before = reads.length
  Object.assign(page, { visibilityState: 'visible' })
  globalThis[target].dispatchEvent(new Event(name))
  expect(reads).toHaveLength(before + 1)
})

it('keeps what it shows when an older answer arrives', () => {
  watch.accept({ version: 3 } as InvoiceView, Date.now())
  watch.accept({ version: 2 } as InvoiceView, Date.now())
  expect(shown?.view?.version).toBe(3)
})

const DAYS = 2 * 86_400_000

// Guarantee: nobody is shown a price as locked, or as expired, because the clock of their device was wrong when the page was opened.
it.each(['ping', 'poll'] as const)(
  'follows the clock of the store when the device sets its own: by %s',
  async (way) => {
    expect(shown?.offset).toBe(0)
    answerWith = 'unchanged'
    for (const ahead of [DAYS, -DAYS]) {
      storeAhead = ahead
      if (way === 'ping') living()[0]?.ping()
      else await silence(12_000)
      expect(Math.abs((shown?.offset ?? 0) - ahead)).toBeLessThanOrEqual(1_000)
      expect(shown?.away).toBeNull()
    }
  },
)

it('goes on asking, and says that it lost the connection, when the clock of the device is set back', async () => {
  vi.setSystemTime(Date.now() - DAYS)
  const before = reads.length
  await silence(10_000)
  expect(reads.length).toBeGreaterThan(before)
  expect(Line.opened.length).toBeGreaterThanOrEqual(1)
  answerWith = 'refused'
  vi.setSystemTime(Date.now() - DAYS)
  await silence(10_000)
  expect(shown?.away?.status).toBe(0)
})

const UNCLEAR = (Object.keys(REFUSALS) as (keyof typeof REFUSALS)[]).filter((name) => name !== 'unknown')

// Guarantee: an open page says that its invoice is gone because our server said so, and never because something failed on the way.
it.each(['refused', ...UNCLEAR] as const)(
  'tells an invoice that was removed from an answer that says nothing: %s',
  async (unclear) => {
    const isUnknown = () => shown?.away != null && meaningOf(shown.away) === 'unknown'
    answerWith = unclear
    await silence(30_000)
    expect([shown?.view !== null, shown?.away !== null, isUnknown()]).toEqual([true, true, false])
    answerWith = 'unknown'
    await silence(60_000)
    expect(isUnknown()).toBe(true)
    // What fails afterwards, or a store that was read, undoes nothing that is known.
    answerWith = unclear
    await silence(120_000)
    living().at(-1)?.ping()
    expect(isUnknown()).toBe(true)
    // It came back: a restore, or another database behind the same name.
    answerWith = 'view'
    await silence(130_000)
    expect([shown?.view?.version, shown?.away]).toEqual([1, null])
  },
)

it('asks for an unknown id once a minute, whether or not it was ever known', async () => {
  answerWith = 'unknown'
  await silence(10_000)
  const before = reads.length
  await silence(300_000)
  expect(reads.length - before).toBeGreaterThanOrEqual(4)
  expect(reads.length - before).toBeLessThanOrEqual(6)
})
