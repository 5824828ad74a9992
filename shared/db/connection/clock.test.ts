import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createStoreClock, driftFault } from './clock.ts'
import type { Database } from './connect.ts'

/** What the store's clock is ahead of the machine's at the start of each test. */
const AHEAD_MS = 5_000
const HOUR_MS = 3_600_000

/** A store whose `hello` takes the given times on the way back, one after the other, and none after that. */
function storeThatTakes(waysBackMs: number[]): Database {
  const startedAt = Date.now()
  const command = async () => {
    const localTime = new Date(startedAt + AHEAD_MS + performance.now())
    vi.advanceTimersByTime(waysBackMs.shift() ?? 0)
    return { localTime }
  }
  const connection = { getClient: () => ({ db: () => ({ command }) }) }
  return { name: 'test', connection } as unknown as Database
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'], now: 1_790_000_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

it('reads the time of the store and knows how far the machine is off', async () => {
  const clock = await createStoreClock(storeThatTakes([20]))
  expect(clock.now() - Date.now()).toBe(AHEAD_MS - 10)
  // The machine is behind the store.
  expect(clock.driftMs).toBe(10 - AHEAD_MS)
  clock.stop()
})

// Guards the promise that no retry is early: simulated seed 5090 was stopped for seven seconds inside of this question.
it('does not take half of a pause of its own process for a difference between clocks', async () => {
  const clock = await createStoreClock(storeThatTakes([7_000]))
  expect(clock.now() - Date.now()).toBe(AHEAD_MS)
  clock.stop()
})

it('takes the fastest of several slow answers', async () => {
  const clock = await createStoreClock(storeThatTakes([4_000, 300, 2_000, 900]))
  expect(Math.abs(clock.now() - Date.now() - AHEAD_MS)).toBeLessThanOrEqual(150)
  clock.stop()
})

it('goes on at its pace when somebody sets the clock of the machine', async () => {
  const clock = await createStoreClock(storeThatTakes([]))
  const before = clock.now()
  vi.setSystemTime(Date.now() - HOUR_MS)
  expect(clock.now() - before).toBe(0)
  expect(clock.driftMs).toBe(-AHEAD_MS - HOUR_MS)
  clock.stop()
})

it.each([
  [2_000, null],
  [-2_000, null],
  [2_001, "this machine's clock is 2.0 s ahead of the store's; synchronise it (NTP)"],
  [-7_200_000, "this machine's clock is 7200.0 s behind the store's; synchronise it (NTP)"],
])('a drift of %i ms is %s', (driftMs, fault) => {
  expect(driftFault(driftMs)).toBe(fault)
})
