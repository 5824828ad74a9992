import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPacer } from './pacer.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

// Guarantee: a catch-up does not ask a provider more often than its quota allows.
it('lets callers through at most so many a second, in their order', async () => {
  const pace = createPacer(10)
  const through: string[] = []
  const request = (name: string) => pace().then(() => through.push(`${name} ${performance.now()}`))
  const startedAt = performance.now()
  const requests = ['a', 'b', 'c'].map(request)
  await vi.advanceTimersByTimeAsync(1_000)
  await Promise.all(requests)
  await request('d')
  expect(through).toEqual([`a ${startedAt}`, `b ${startedAt + 100}`, `c ${startedAt + 200}`, `d ${startedAt + 1_000}`])
})

it('lets everybody through at once without a limit', async () => {
  const pace = createPacer(null)
  await Promise.all([pace(), pace()])
  expect(vi.getTimerCount()).toBe(0)
})
