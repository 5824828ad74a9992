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
