import { expect, it } from 'vitest'
import { createHeadroomPlan } from './headroom-plan.ts'

const counters = (nextIndex: number, derivedCount: number) => [{ materialId: 'k', nextIndex, derivedCount }]

// Guarantee: the death of the process that derives stops no sale, however fast a key is used.
it('plans for a minute without anybody who derives, by the load of the key', () => {
  const plan = createHeadroomPlan(512)
  plan.note(counters(0, 512), 0)
  expect([plan.of('k'), plan.isAnyBehind()]).toEqual([512, false])
  // 50 a second need 3,500 for 70 s.
  plan.note(counters(50, 562), 1_000)
  expect([plan.of('k'), plan.isAnyBehind()]).toEqual([3_500, true])
  plan.note(counters(50, 3_550), 2_000)
  expect(plan.of('k')).toBeGreaterThan(3_400)
  expect(plan.isAnyBehind()).toBe(false)
})

it('forgets a burst slowly, and plans the least for a key that rests', () => {
  const plan = createHeadroomPlan(512)
  plan.note(counters(0, 512), 0)
  plan.note(counters(100, 612), 1_000)
  for (let second = 2; second < 4_000; second += 1) plan.note(counters(100, 10_000), second * 1_000)
  expect(plan.of('k')).toBe(512)
})
