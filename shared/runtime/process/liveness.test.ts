import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLiveness } from './liveness.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a loop that stops turning is named, one that turns or has ended is not', () => {
  const liveness = createLiveness({ isExcused: () => false })
  const turning = liveness.start('turning', 5_000)
  liveness.start('stuck', 5_000)
  const ended = liveness.start('ended', 5_000)
  ended.end()
  for (let second = 0; second < 10; second += 1) {
    vi.advanceTimersByTime(1_000)
    turning.beat()
  }
  expect(liveness.silent()).toEqual({ stuck: 'no progress for 10 s' })
  liveness.stop()
})

// Guarantee: an outage of a store never has processes killed.
test('silence while a store is away does not count', () => {
  let away = true
  const liveness = createLiveness({ isExcused: () => away })
  liveness.start('waiting', 5_000)
  vi.advanceTimersByTime(3_600_000)
  expect(liveness.silent()).toEqual({})
  away = false
  vi.advanceTimersByTime(5_000)
  expect(liveness.silent()).toEqual({})
  vi.advanceTimersByTime(1_000)
  expect(liveness.silent()).toEqual({ waiting: 'no progress for 6 s' })
  liveness.stop()
})

test('time in which the whole process was frozen is no silence', () => {
  const liveness = createLiveness({ isExcused: () => false })
  liveness.start('frozen', 5_000)
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(liveness.silent()).toEqual({})
  liveness.stop()
})
