import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createLiveFeed, type LiveFeed, type LiveView } from './live-feed.ts'

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const logger = { ...SILENT, child: () => logger }
const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }

let versions: Map<string, number>
let height: number
let questions: string[][]
let made: string[]
let attended: string[]
let fails: boolean
let announced: Map<string, number>
let unreadable: Set<string>
let feed: LiveFeed

const view = (id: string) =>
  ({
    id,
    mode: 'test',
    version: versions.get(id),
    status: 'pending',
    paymentMethod: { asset: 'usdt_ethereum' },
    hints: Array.from({ length: announced.get(id) ?? 0 }, () => ({})),
    payments: id.startsWith('waiting') ? [{ state: 'detected', confirmations: height }] : [],
  }) as unknown as InvoiceView

beforeEach(() => {
  vi.useFakeTimers()
  versions = new Map([
    ['a', 1],
    ['b', 1],
    ['waiting', 1],
  ])
  height = 10
  questions = []
  attended = []
  made = []
  fails = false
  announced = new Map()
  unreadable = new Set()
  feed = createLiveFeed({
    logger,
    metrics,
    versions: {
      versionsOf: async (ids) => {
        questions.push([...ids])
        if (fails) throw new Error('the store is away')
        return versions
      },
    },
    hints: standIn({ countsOf: async () => announced }),
    cursors: standIn({ list: async () => [{ id: 'test:ethereum', height }] as never }),
    attend: (id) => void attended.push(id),
    view: async (id) => {
      made.push(id)
      if (unreadable.has(id)) throw new Error('this invoice cannot be read')
      return versions.has(id) ? view(id) : null
    },
  })
})
afterEach(() => {
  feed.close()
  vi.useRealTimers()
})

/** Guarantee: a crowd that watches costs the store as much as one person. */
it('asks once a second for everybody, and makes a view once for all who see it', async () => {
  const seen: LiveView[] = []
  const watches = await Promise.all(Array.from({ length: 100 }, () => feed.watch('a', (next) => seen.push(next))))
  expect(made).toEqual(['a'])
  await vi.advanceTimersByTimeAsync(3_000)
  expect(questions).toEqual([['a'], ['a'], ['a']])
  expect(seen).toEqual([])
  versions.set('a', 2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(made).toEqual(['a', 'a'])
  expect(seen).toHaveLength(100)
  expect(new Set(seen.map(({ tag }) => tag)).size).toBe(1)
  for (const watch of watches) watch?.stop()
  questions = []
  await vi.advanceTimersByTimeAsync(3_000)
  expect(questions.length).toBeLessThanOrEqual(1)
})

it('follows the height of a chain while a payment waits on it, and no longer', async () => {
  const seen: string[] = []
  await feed.watch('waiting', ({ json }) => seen.push(json))
  await feed.watch('b', () => seen.push('b'))
  await vi.advanceTimersByTimeAsync(1_000)
  height = 11
  await vi.advanceTimersByTimeAsync(1_000)
  expect(seen.at(-1)).toContain('"confirmations":11')
  expect(seen).not.toContain('b')
})

it('goes on after the store was away, and knows unknown invoices as nothing', async () => {
  const seen: LiveView[] = []
  await feed.watch('a', (next) => seen.push(next))
  fails = true
  await vi.advanceTimersByTimeAsync(3_000)
  fails = false
  versions.set('a', 5)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(seen).toHaveLength(1)
  expect(await feed.watch('unknown', () => undefined)).toBeNull()
})

// Guarantee: a page is not told that an invoice is up to date which is not there any more, and a store that fails removes none.
it('ends the watching of an invoice that was removed, and of none that cannot be read', async () => {
  let ends = 0
  await feed.watch(
    'a',
    () => {},
    () => {},
    () => (ends += 1),
  )
  fails = true
  await vi.advanceTimersByTimeAsync(3_000)
  fails = false
  unreadable.add('a')
  versions.set('a', 2)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(ends).toBe(0)
  unreadable.clear()
  versions.delete('a')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ends).toBe(1)
})

// Guarantee: a beat proves that the store was read just now, and a view that is kept from before is shown to nobody as the present one.
it('beats while the store is read, and not while it is away', async () => {
  let beats = 0
  await feed.watch(
    'a',
    () => {},
    () => (beats += 1),
  )
  await vi.advanceTimersByTimeAsync(8_000)
  expect(beats).toBe(2)
  fails = true
  unreadable.add('a')
  await vi.advanceTimersByTimeAsync(8_000)
  expect(beats).toBe(2)
  await expect(feed.watch('a', () => {})).rejects.toThrow('cannot be read')
  fails = false
  unreadable.clear()
  await vi.advanceTimersByTimeAsync(8_000)
  expect(beats).toBe(4)
})

/** Guarantee: a network is woken once in five seconds for all its pages, and not for pages that wait for nothing. */
it('wakes the scanner of a network whose open invoices are watched', async () => {
  await feed.watch('a', () => {})
  await feed.watch('b', () => {})
  await feed.watch('waiting', () => {})
  await vi.advanceTimersByTimeAsync(10_500)
  expect(attended).toEqual(['test-ethereum', 'test-ethereum'])
})

it('shows an announced transaction once, though it changes no version', async () => {
  const seen: LiveView[] = []
  const watching = await feed.watch('a', (next) => void seen.push(next))
  expect(watching).not.toBeNull()
  announced.set('a', 1)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(seen.map(({ json }) => (JSON.parse(json) as InvoiceView).hints?.length)).toEqual([1])
  expect(made.filter((id) => id === 'a')).toHaveLength(2)
})

/** Guarantee: whoever else watches, and however often that changes, a page shows that its invoice is paid. */
it('shows a change although hundreds of older pages change in every turn', async () => {
  const crowd = Array.from({ length: 450 }, (_, one) => `crowd-${one}`)
  for (const id of crowd) versions.set(id, 1)
  for (const id of crowd) await feed.watch(id, () => {})
  const seen: LiveView[] = []
  await feed.watch('a', (next) => seen.push(next))
  versions.set('a', 2)
  const shown = new Set<string>()
  for (let turn = 0; turn < 5; turn += 1) {
    for (const id of crowd) versions.set(id, turn + 2)
    made = []
    await vi.advanceTimersByTimeAsync(1_000)
    expect(made.length).toBe(200)
    for (const id of made) shown.add(id)
  }
  expect(seen).toHaveLength(1)
  expect(shown.size).toBe(451)
})

it('shows changed invoices at once, while a block changes hundreds of others', async () => {
  const crowd = Array.from({ length: 450 }, (_, one) => `waiting-${one}`)
  for (const id of crowd) versions.set(id, 1)
  for (const id of crowd) await feed.watch(id, () => {})
  const seen: LiveView[] = []
  await feed.watch('a', (next) => seen.push(next))
  await vi.advanceTimersByTimeAsync(4_000)
  versions.set('a', 2)
  height += 1
  await vi.advanceTimersByTimeAsync(1_000)
  expect(seen).toHaveLength(1)
})

it('does not let an invoice that cannot be read keep others from being shown', async () => {
  const broken = Array.from({ length: 8 }, (_, one) => `broken-${one}`)
  for (const id of broken) versions.set(id, 1)
  for (const id of broken) await feed.watch(id, () => {})
  const crowd = Array.from({ length: 220 }, (_, one) => `crowd-${one}`)
  for (const id of crowd) versions.set(id, 1)
  const seen = new Set<string>()
  for (const id of crowd) await feed.watch(id, () => seen.add(id))
  unreadable = new Set(broken)
  for (const id of [...broken, ...crowd]) versions.set(id, 2)
  await vi.advanceTimersByTimeAsync(4_000)
  expect(seen.size).toBe(crowd.length)
})
