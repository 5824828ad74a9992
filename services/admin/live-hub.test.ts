import { expect, test } from 'vitest'
import type { ChangeListener, StoreChange } from '#shared/ports/change-feed.ts'
import { createLiveHub, type LiveFollower } from './live-hub.ts'

const HERE = { workspaceId: 'ws-1', mode: 'test' as const }
const change = (id: string, more: Partial<StoreChange> = {}): StoreChange => {
  return { kind: 'invoice', id, isNew: false, ...HERE, ...more }
}

function open(lingerMs = 0) {
  const listeners: ChangeListener[] = []
  let stops = 0
  let lives = 0
  let nowMs = 0
  const hub = createLiveHub({
    feed: {
      follow: (listener) => {
        listeners.push(listener)
        return { stop: async () => void stops++ }
      },
    },
    random: { uuid: () => `life${lives++}`, bytes: (length) => new Uint8Array(length) },
    lingerMs,
    elapsedMs: () => nowMs,
  })
  return {
    hub,
    tell: (...batch: StoreChange[]) => listeners.at(-1)?.changes(batch),
    gap: () => listeners.at(-1)?.gap(),
    pass: (ms: number) => {
      nowMs += ms
    },
    begun: () => listeners.length,
    stops: () => stops,
  }
}

const never = new AbortController().signal
const read = async (follower: LiveFollower) => await follower.next(5, never)

/** Guarantee: a page hears of its own workspace and mode alone. */
test('changes of others are not told', async () => {
  const { hub, tell, gap } = open()
  const follower = hub.follow({ ...HERE, lastPlace: null })
  expect(await read(follower)).toBeNull()
  gap()
  expect((await read(follower))?.signal.kind).toBe('all')
  tell(change('a', { workspaceId: 'ws-2' }), change('b', { mode: 'live' }), change('c'), change('d', { mode: null }))
  expect((await read(follower))?.signal).toEqual({ kind: 'invoice', id: 'c', isNew: false })
  expect((await read(follower))?.signal.id).toBe('d')
  expect(await read(follower)).toBeNull()
})

/** Guarantee: a page whose connection was cut misses nothing. */
test('who comes back is told what was missed, once', async () => {
  const { hub, tell } = open()
  const stays = hub.follow({ ...HERE, lastPlace: null })
  const first = hub.follow({ ...HERE, lastPlace: null })
  await read(first)
  tell(change('a'))
  const seen = await read(first)
  first.leave()
  tell(change('b'), change('x', { workspaceId: 'ws-2' }), change('c'))
  const back = hub.follow({ ...HERE, lastPlace: seen?.place ?? null })
  expect((await read(back))?.signal.id).toBe('b')
  expect((await read(back))?.signal.id).toBe('c')
  expect(await read(back)).toBeNull()
  stays.leave()
})

test('who was away too long, or elsewhere, asks everything again', async () => {
  const { hub, tell, gap, begun, stops } = open()
  const stays = hub.follow({ ...HERE, lastPlace: null })
  for (let index = 0; index < 2_500; index++) tell(change(`i${index}`))
  for (const lastPlace of ['life0.1', 'life9.2499', 'life0.99999', 'nonsense', 'life0.-1']) {
    const follower = hub.follow({ ...HERE, lastPlace })
    expect((await read(follower))?.signal.kind).toBe('all')
    follower.leave()
  }
  stays.leave()
  await hub.close()
  expect(stops()).toBe(1)
  // While nobody followed nothing was kept, so a place of before is worth nothing.
  const later = hub.follow({ ...HERE, lastPlace: 'life0.2500' })
  expect(begun()).toBe(2)
  gap()
  expect((await read(later))?.signal.kind).toBe('all')
})

test('a page that does not read is told to ask everything instead of filling the memory', async () => {
  const { hub, tell } = open()
  const follower = hub.follow({ ...HERE, lastPlace: null })
  for (let index = 0; index < 1_000; index++) tell(change(`i${index}`))
  const kinds: string[] = []
  for (let event = await read(follower); event !== null; event = await read(follower)) kinds.push(event.signal.kind)
  expect(kinds).toContain('all')
  expect(kinds.length).toBeLessThanOrEqual(200)
})

/** Guarantee: the only page of a process loses nothing either when its connection is cut. */
test('the stream outlives the last page for a while', async () => {
  const { hub, tell, gap, begun } = open(60_000)
  const alone = hub.follow({ ...HERE, lastPlace: null })
  gap()
  const place = (await read(alone))?.place ?? ''
  alone.leave()
  tell(change('a'))
  const back = hub.follow({ ...HERE, lastPlace: place })
  expect((await read(back))?.signal.id).toBe('a')
  expect(begun()).toBe(1)
  await hub.close()
})

/** Guarantee: a page that is opened beside others reads nothing twice, unless it may have changed since it was read. */
test('a new page is told of the changes that it may not have read', async () => {
  const { hub, tell, gap, pass } = open()
  const stays = hub.follow({ ...HERE, lastPlace: null })
  const kindsOf = async () => {
    const follower = hub.follow({ ...HERE, lastPlace: null })
    const kinds: string[] = []
    for (let event = await read(follower); event !== null; event = await read(follower))
      kinds.push(`${event.signal.kind} ${event.signal.id}`)
    follower.leave()
    return kinds
  }
  gap()
  tell(change('a'))
  pass(119_999)
  expect(await kindsOf()).toEqual(['all '])
  pass(2)
  tell(change('b'), change('x', { workspaceId: 'ws-2' }))
  expect(await kindsOf()).toEqual(['none ', 'invoice b'])
  pass(120_001)
  expect(await kindsOf()).toEqual(['none '])
  gap()
  expect(await kindsOf()).toEqual(['none ', 'all '])
  for (let index = 0; index < 2_500; index++) tell(change(`i${index}`))
  expect(await kindsOf()).toEqual(['all '])
  stays.leave()
})

test('a new page whose line is cut before the first change is told what it missed', async () => {
  const { hub, tell, pass } = open()
  const stays = hub.follow({ ...HERE, lastPlace: null })
  pass(130_000)
  const page = hub.follow({ ...HERE, lastPlace: null })
  const place = (await read(page))?.place ?? null
  page.leave()
  tell(change('a'))
  pass(900_000)
  expect((await read(hub.follow({ ...HERE, lastPlace: place })))?.signal.id).toBe('a')
  stays.leave()
})

test('a gap of the store reaches everybody, and an ended page is not waited for', async () => {
  const { hub, gap } = open()
  const follower = hub.follow({ ...HERE, lastPlace: null })
  await read(follower)
  gap()
  expect((await read(follower))?.signal.kind).toBe('all')
  const cut = new AbortController()
  const waiting = follower.next(60_000, cut.signal)
  cut.abort()
  expect(await waiting).toBeNull()
})
