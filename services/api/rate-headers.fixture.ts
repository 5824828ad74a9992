import { expect } from 'vitest'
import type { ApiAnswer } from '#test/support/api.ts'

/** A response states how much of the rate limit is left, and when all of it is restored. */
export function expectRateHeaders({ headers }: Pick<ApiAnswer, 'headers'>): void {
  expect(headers.get('x-ratelimit-limit')).toBe('120')
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0)
  expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(1_700_000_000)
}
