import { expect, test } from 'vitest'
import { createDeliveryCap } from './delivery-cap.ts'

const fast = { timedOut: false, durationMs: 20 }
const timeout = { timedOut: true, durationMs: 10_000 }

function after(...outcomes: readonly { readonly timedOut: boolean; readonly durationMs: number }[]): number {
  const cap = createDeliveryCap(() => 1)
  for (const outcome of outcomes) cap.record(outcome, 0)
  return cap.limit()
}

test('starts at 4 and grows by one for each round of fast answers, to 32', () => {
  expect(after()).toBe(4)
  expect(after(...Array(3).fill(fast))).toBe(4)
  expect(after(...Array(4).fill(fast))).toBe(5)
  expect(after(...Array(9).fill(fast))).toBe(6)
  expect(after(...Array(10_000).fill(fast))).toBe(32)
})

test('a slow answer neither raises nor lowers it, and begins the round again', () => {
  const slow = { timedOut: false, durationMs: 2_000 }
  expect(after(fast, fast, fast, slow, fast)).toBe(4)
  expect(after(...Array(50).fill(slow))).toBe(4)
})

test('each time-out halves it, down to one, and it comes back step by step', () => {
  expect(after(timeout)).toBe(2)
  expect(after(timeout, timeout, timeout, timeout)).toBe(1)
  expect(after(timeout, timeout, fast)).toBe(2)
  expect(after(timeout, timeout, fast, fast, fast)).toBe(3)
})

test('an endpoint is slow for a minute after its last time-out', () => {
  const cap = createDeliveryCap(() => 1)
  expect(cap.isSlow(0)).toBe(false)
  cap.record(timeout, 1_000)
  expect([cap.isSlow(1_000), cap.isSlow(60_999), cap.isSlow(61_000)]).toEqual([true, true, false])
  expect([cap.isIdle(60_999), cap.isIdle(61_000)]).toEqual([false, true])
})

test('places taken under a higher bound leave none free until they are given back', async () => {
  const cap = createDeliveryCap(() => 1)
  cap.slots.take(4)
  cap.record(timeout, 0)
  expect(cap.slots.free()).toBe(0)
  const freed = cap.slots.freed()
  cap.slots.give(3)
  await freed
  expect(cap.slots.free()).toBe(1)
})

test('of several processes the one that relays has half of the cap, one place at least, and the other half is for the turn out of the queue', () => {
  let processes = 1
  const cap = createDeliveryCap(() => processes)
  for (const answer of Array(10_000).fill(fast)) cap.record(answer, 0)
  const places = [1, 2, 3, 5, 33, 0].map((count) => {
    processes = count
    return [cap.limit(), cap.ownRoom()]
  })
  expect(places).toEqual([
    [32, 32],
    [16, 16],
    [16, 16],
    [16, 16],
    [16, 16],
    [32, 32],
  ])
})

test('places that a turn took count against the own share', () => {
  const cap = createDeliveryCap(() => 2)
  for (const answer of Array(10_000).fill(fast)) cap.record(answer, 0)
  cap.slots.take(7)
  expect([cap.ownRoom(), cap.slots.free()]).toEqual([9, 9])
  cap.slots.take(9)
  expect([cap.ownRoom() < 1, cap.slots.free()]).toEqual([true, 0])
})
