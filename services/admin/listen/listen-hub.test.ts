import { expect, test } from 'vitest'
import type { EventStream } from '#shared/db/deliveries/event-stream.ts'
import type { EventListener, StoredEvent } from '#shared/ports/event-stream.ts'
import { createListenHub, type Letter } from './listen-hub.ts'

const never = new AbortController().signal
const event = (number: number, workspaceId = 'ws-1', mode: 'live' | 'test' = 'test'): StoredEvent => ({
  ...{ id: `evt_${number}`, workspaceId, mode, type: 'invoice.paid', resent: false, place: `place-${number}` },
})

/** A hub on a stream that a test feeds. */
function openHub() {
  const listeners: EventListener[] = []
  let stops = 0
  const stream: EventStream = {
    follow: (listener) => {
      listeners.push(listener)
      return {
        stop: async () => {
          stops += 1
        },
      }
    },
    since: async function* () {},
  }
  const hub = createListenHub({ stream, clock: { now: () => 0 } })
  return { hub, last: () => listeners.at(-1) as EventListener, opened: () => listeners.length, stops: () => stops }
}

const kinds = async (next: (patienceMs: number, abort: AbortSignal) => Promise<Letter | null>, count: number) => {
  const letters: (Letter | null)[] = []
  for (let index = 0; index < count; index += 1) letters.push(await next(0, never))
  return letters.map((letter) => (letter?.kind === 'event' ? letter.event.id : (letter?.kind ?? null)))
}

// Guarantee: a listener receives the events of its workspace and mode, and none of another one.
test('events go to the listeners of their workspace and mode', async () => {
  const { hub, last, opened } = openHub()
  const mine = hub.follow({ workspaceId: 'ws-1', mode: 'test' })
  const foreign = hub.follow({ workspaceId: 'ws-2', mode: 'test' })
  const live = hub.follow({ workspaceId: 'ws-1', mode: 'live' })
  last().reached('place-0')
  expect(await mine.ready).toBe('place-0')
  last().event(event(1))
  last().event(event(2, 'ws-2'))
  last().event(event(3, 'ws-1', 'live'))
  expect(await kinds(mine.next, 3)).toEqual(['place', 'evt_1', null])
  expect(await kinds(foreign.next, 3)).toEqual(['place', 'evt_2', null])
  expect(await kinds(live.next, 3)).toEqual(['place', 'evt_3', null])
  expect(opened()).toBe(1)
})

// Guarantee: a slow listener costs a bounded amount of memory; it is cut off and reads the rest from the history.
test('a listener that reads too slowly is cut off', async () => {
  const { hub, last } = openHub()
  const slow = hub.follow({ workspaceId: 'ws-1', mode: 'test' })
  last().reached('place-0')
  for (let number = 1; number <= 5_000; number += 1) last().event(event(number))
  const unread: (string | null)[] = await kinds(slow.next, 1_001)
  expect(unread[0]).toBe('cut')
  expect(unread.filter((name) => name !== null).length).toBeLessThanOrEqual(1_000)
})

test('a broken stream cuts every listener off, and the next one opens another', async () => {
  const { hub, last, opened } = openHub()
  const one = hub.follow({ workspaceId: 'ws-1', mode: 'test' })
  last().broken(new Error('the store is gone'))
  await expect(one.ready).rejects.toThrow('the store is gone')
  expect(await kinds(one.next, 1)).toEqual(['cut'])
  one.leave()
  hub.follow({ workspaceId: 'ws-1', mode: 'test' })
  expect(opened()).toBe(2)
})

test('closing ends the stream of the store', async () => {
  const { hub, stops } = openHub()
  hub.follow({ workspaceId: 'ws-1', mode: 'test' })
  await hub.close()
  expect(stops()).toBe(1)
})
