import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeadroomPlan } from './headroom-plan.ts'

const LEAST = 512
const GAP_S = 70
const counters = (nextIndex: number, derivedCount: number) => [{ materialId: 'k', nextIndex, derivedCount }]
const newPlan = () => createHeadroomPlan(LEAST, GAP_S * 1_000, 16)

// Guarantee: the death of the process that derives stops no sale, however fast a key is used.
it('plans for a minute without anybody who derives, by the load of the key', () => {
  const plan = newPlan()
  plan.note(counters(0, 512), 0)
  expect([plan.of('k'), plan.isAnyBehind()]).toEqual([512, false])
  // 50 a second need 3,500 for 70 s; the first two blocks of a second alone are no rate.
  plan.note(counters(50, 562), 1_000)
  expect([plan.of('k'), plan.isAnyBehind()]).toEqual([1_708, true])
  for (let second = 2; second <= 5; second += 1) plan.note(counters(50 * second, 562), second * 1_000)
  expect(plan.of('k')).toBe(3_500)
  plan.note(counters(250, 3_750), 6_000)
  expect(plan.of('k')).toBeGreaterThan(3_400)
  expect(plan.isAnyBehind()).toBe(false)
})

it('forgets a burst slowly, and plans the least for a key that rests', () => {
  const plan = newPlan()
  plan.note(counters(0, 512), 0)
  plan.note(counters(100, 612), 1_000)
  expect(plan.of('k')).toBeGreaterThan(5_000)
  for (let second = 2; second < 4_000; second += 1) plan.note(counters(100, 10_000), second * 1_000)
  expect(plan.of('k')).toBe(512)
})

it('measures on after the clock was put back', () => {
  const plan = newPlan()
  plan.note(counters(0, 512), 3_600_000)
  plan.note(counters(0, 512), 0)
  plan.note(counters(400, 912), 1_000)
  expect(plan.of('k')).toBeGreaterThan(20_000)
})

describe('a steady load that two processes share in any way', () => {
  /** Each process reserves 16 indexes when it has fewer than six addresses left, as the address source does. */
  const planAfter = (perSecond: number, seconds: number, turns: readonly number[]): number => {
    const plan = newPlan()
    const stock = [0, 0]
    let [nextIndex, taken] = [0, 0]
    plan.note(counters(0, LEAST), 0)
    for (let second = 1; second <= seconds; second += 1) {
      for (; taken < second * perSecond; taken += 1) {
        const process = turns[taken % turns.length] ?? 0
        stock[process] = (stock[process] ?? 0) - 1
        if (stock[process] < 6) {
          stock[process] += 16
          nextIndex += 16
        }
      }
      plan.note(counters(nextIndex, nextIndex + LEAST), second * 1_000)
    }
    return plan.of('k')
  }
  const load = [
    fc.integer({ min: 1, max: 200 }),
    fc.integer({ min: 6, max: 30 }),
    fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 40 }),
  ] as const

  // Guarantee: whatever can be issued until the next holder of the lease has derived, which is half of the gap, is derived before.
  it('never has less planned than it issues while nobody derives', () => {
    fc.assert(
      fc.property(...load, (perSecond, seconds, turns) => {
        expect(planAfter(perSecond, seconds, turns)).toBeGreaterThanOrEqual((perSecond * GAP_S) / 2)
      }),
    )
  })

  /** Both processes begin with 21 addresses in stock: 10 a second more than two blocks, which are 6.4 a second over five. */
  const STOCK_PER_SECOND = 17

  it('has little more planned than it would issue in the whole gap', () => {
    fc.assert(
      fc.property(...load, (perSecond, seconds, turns) => {
        const most = Math.max(LEAST, GAP_S * (perSecond + STOCK_PER_SECOND))
        expect(planAfter(perSecond, seconds, turns)).toBeLessThanOrEqual(most)
      }),
    )
  })
})
