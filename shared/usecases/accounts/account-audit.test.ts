import { expect, it } from 'vitest'
import { failureAudit } from './account-audit.ts'

const HOUR = 3_600_000
const rowsOf = (sources: number, at: number, userId: string | null) =>
  new Set(
    Array.from({ length: sources }, (_, one) => {
      const origin = { ip: `2001:db8:${one.toString(16)}::1`, group: `2001:db8:${one.toString(16)}` }
      return failureAudit({ clock: { now: () => at } }, 'auth.log_in_failed', userId, origin).id
    }),
  )

// Guarantee: whoever owns however many addresses writes at most 16 rows an hour into the audit log about one account, or about none.
it('gives failures of any number of sources at most 16 rows an hour and account', () => {
  for (const account of ['user-1', null]) expect(rowsOf(5_000, HOUR, account).size).toBe(16)
  expect(rowsOf(1, HOUR, 'user-1')).toEqual(rowsOf(1, 2 * HOUR - 1, 'user-1'))
  const all = [
    rowsOf(99, HOUR, 'user-1'),
    rowsOf(99, 2 * HOUR, 'user-1'),
    rowsOf(99, HOUR, 'user-2'),
    rowsOf(99, HOUR, null),
  ]
  expect(new Set(all.flatMap((ids) => [...ids])).size).toBe(64)
})
