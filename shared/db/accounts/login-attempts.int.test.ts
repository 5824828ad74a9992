import { expect, test } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { createLoginAttempts } from './login-attempts.ts'

const BACK_OFF = { free: 5, firstWaitMs: 1_000, waitMaxMs: 900_000, forgottenAfterMs: 86_400_000 }
const NOW = Date.parse('2026-03-01T12:00:00Z')

const stores = useStores()

// Guarantee: who opens two windows at once does not wait; only what was tried counts.
test('first tries at one moment are all counted and none waits', async () => {
  const attempts = createLoginAttempts(stores.db)
  for (let key = 0; key < 40; key += 1) {
    const tries = Array.from({ length: 5 }, () => attempts.begin(`k${key}`, BACK_OFF, NOW))
    expect((await Promise.all(tries)).map(({ waitMs }) => waitMs)).toEqual([0, 0, 0, 0, 0])
    expect(await attempts.begin(`k${key}`, BACK_OFF, NOW)).toEqual({ waitMs: 0 })
    expect(await attempts.begin(`k${key}`, BACK_OFF, NOW)).toEqual({ waitMs: 1_000 })
  }
})

test('no more than the free tries and one go through, however many come at once', async () => {
  const attempts = createLoginAttempts(stores.db)
  const tries = Array.from({ length: 60 }, () => attempts.begin('crowd', BACK_OFF, NOW))
  const waits = (await Promise.all(tries)).map(({ waitMs }) => waitMs)
  expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(6)
  expect(waits.filter((waitMs) => waitMs === 1_000)).toHaveLength(54)
})

// Guarantee: wrong passwords that arrive together are counted one by one, hence each waits as long as its number asks for.
test('failures at one moment are all counted, and wait by their number up to the longest wait', async () => {
  const attempts = createLoginAttempts(stores.db)
  const delay = { ...BACK_OFF, waitMaxMs: 5_000 }
  const failures = Array.from({ length: 12 }, () => attempts.fail('together', delay, NOW))
  const delays = (await Promise.all(failures)).map(({ delayMs }) => delayMs)
  const expected = [0, 0, 0, 0, 0, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]
  expect(delays.toSorted((one, other) => one - other)).toEqual(expected)
  expect(await attempts.fail('together', delay, NOW + 86_400_001)).toEqual({ delayMs: 0 })
})

// Guarantee: a wait that a version before stored refuses nobody any more.
test('a counter with a wait of a former version counts on without a refusal', async () => {
  const attempts = createLoginAttempts(stores.db)
  for (let index = 0; index < 7; index += 1) await attempts.begin('former', BACK_OFF, NOW + index * 900_000)
  expect(await attempts.fail('former', { ...BACK_OFF, waitMaxMs: 5_000 }, NOW + 6 * 900_000)).toEqual({
    delayMs: 4_000,
  })
})
