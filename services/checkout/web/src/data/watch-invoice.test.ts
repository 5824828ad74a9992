import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { type InvoiceWatch, type Watched, watchInvoice } from './watch-invoice.ts'

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
    this.dispatchEvent(new Event('ping'))
  }
}

const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
const device = { onLine: true }
let reads: string[]
let isAway: boolean
let shown: Watched | null
let watch: InvoiceWatch

beforeEach(async () => {
  vi.useFakeTimers()
  Line.opened = []
  reads = []
  isAway = false
  shown = null
  Object.assign(page, { visibilityState: 'visible' })
  device.onLine = true
  vi.stubGlobal('EventSource', Line)
  vi.stubGlobal('document', page)
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('navigator', device)
  vi.stubGlobal('fetch', async (url: string) => {
    reads.push(url)
    if (isAway) throw new TypeError('offline')
    return Response.json({ now: Date.now(), view: { version: 1 } as InvoiceView })
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

// Guarantee: a connection that is dead without a word is replaced, although the browser calls it open.
it('opens another connection after 40 s without a message, and none while messages arrive', async () => {
  for (let turn = 0; turn < 10; turn += 1) {
    await silence(15_000)
    living()[0]?.ping()
  }
  expect(Line.opened).toHaveLength(1)
  await silence(40_000)
  expect(Line.opened).toHaveLength(1)
  await silence(2_500)
  expect(Line.opened).toHaveLength(2)
  expect(living()).toEqual([Line.opened[1]])
})

it('polls while there is no connection, and says that it is offline until an answer arrives', async () => {
  const before = reads.length
  living()[0]?.ping()
  await silence(10_000)
  expect(reads).toHaveLength(before)
  isAway = true
  device.onLine = false
  const [line] = living()
  if (line !== undefined) line.readyState = 0
  await silence(20_000)
  expect(reads.length).toBeGreaterThanOrEqual(before + 3)
  expect(shown?.isOffline).toBe(true)
  isAway = false
  device.onLine = true
  await silence(5_000)
  expect(shown?.isOffline).toBe(false)
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
