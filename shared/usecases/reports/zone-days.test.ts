import { expect, test } from 'vitest'
import { isZone, lastDays } from './zone-days.ts'

test('days are those of the zone and begin at its midnight', () => {
  const now = Date.UTC(2026, 10, 20, 3, 30)
  expect(lastDays(now, 3, 'America/Santo_Domingo')).toEqual({
    days: ['2026-11-17', '2026-11-18', '2026-11-19'],
    since: Date.UTC(2026, 10, 17, 4),
  })
  expect(lastDays(now, 1, 'UTC')).toEqual({ days: ['2026-11-20'], since: Date.UTC(2026, 10, 20) })
})

test('a change to or from summer time moves the beginning, not the days', () => {
  const { days, since } = lastDays(Date.UTC(2026, 3, 1, 12), 7, 'Europe/Berlin')
  expect(days[0]).toBe('2026-03-26')
  expect(since).toBe(Date.UTC(2026, 2, 25, 23))
  expect(days).toHaveLength(7)
})

test('unknown zones are known as such', () => {
  expect([isZone('Europe/Berlin'), isZone('Mars/Olympus'), isZone('')]).toEqual([true, false, false])
})
