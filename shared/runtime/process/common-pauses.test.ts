import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createCommonPauses } from './common-pauses.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

it('ends the pauses of one interval together, when the first one ends', async () => {
  const pauses = createCommonPauses()
  const ended: string[] = []
  pauses.begin(1_000, 800, () => ended.push('one'))
  await vi.advanceTimersByTimeAsync(500)
  pauses.begin(1_000, 1_200, () => ended.push('two'))
  await vi.advanceTimersByTimeAsync(299)
  expect(ended).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toEqual(['one', 'two'])
  pauses.begin(1_000, 1_200, () => ended.push('three'))
  await vi.advanceTimersByTimeAsync(1_199)
  expect(ended).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toEqual(['one', 'two', 'three'])
})

it('keeps intervals apart', async () => {
  const pauses = createCommonPauses()
  const ended: string[] = []
  pauses.begin(5_000, 5_000, () => ended.push('slow'))
  pauses.begin(1_000, 1_000, () => ended.push('quick'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).toEqual(['quick'])
  await vi.advanceTimersByTimeAsync(4_000)
  expect(ended).toEqual(['quick', 'slow'])
})

// Guarantee: a loop that pauses again at once, in the turn that ended its pause, waits for the next moment and is not left out of it.
it('takes what begins while others end', async () => {
  const pauses = createCommonPauses()
  const ended: number[] = []
  const again = (round: number) => () => {
    ended.push(round)
    if (round < 3) pauses.begin(1_000, 1_000, again(round + 1))
  }
  pauses.begin(1_000, 1_000, again(1))
  await vi.advanceTimersByTimeAsync(3_000)
  expect(ended).toEqual([1, 2, 3])
})

it('drops a cancelled pause, keeps the others, and leaves no timer behind', async () => {
  const pauses = createCommonPauses()
  const ended: string[] = []
  const cancelOne = pauses.begin(1_000, 1_000, () => ended.push('one'))
  const cancelTwo = pauses.begin(1_000, 1_000, () => ended.push('two'))
  cancelOne()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).toEqual(['two'])
  cancelTwo()
  pauses.begin(1_000, 1_000, () => ended.push('three'))()
  expect(vi.getTimerCount()).toBe(0)
})
