import { expect, test } from 'vitest'
import { dayBefore, dayIn, dayStarts, daysOf, isZone, lastDays, localTime } from './zone-days.ts'

test('days are those of the zone and begin at its midnight', () => {
  const now = Date.UTC(2026, 10, 20, 3, 30)
  const zone = 'America/Santo_Domingo'
  expect(lastDays(now, 3, zone)).toEqual({ first: '2026-11-17', last: '2026-11-19' })
  expect(daysOf(lastDays(now, 3, zone))).toEqual(['2026-11-17', '2026-11-18', '2026-11-19'])
  expect(dayStarts(['2026-11-17'], zone)).toEqual([Date.UTC(2026, 10, 17, 4)])
  expect(lastDays(now, 1, 'UTC')).toEqual({ first: '2026-11-20', last: '2026-11-20' })
  expect(daysOf({ first: '2026-11-20', last: '2026-11-19' })).toEqual([])
})

test('a change to or from summer time moves the beginning, not the days', () => {
  const range = lastDays(Date.UTC(2026, 3, 1, 12), 7, 'Europe/Berlin')
  expect(daysOf(range)).toHaveLength(7)
  expect(range.first).toBe('2026-03-26')
  expect(dayStarts(['2026-03-26', '2026-03-30'], 'Europe/Berlin')).toEqual([
    ...[Date.UTC(2026, 2, 25, 23), Date.UTC(2026, 2, 29, 22)],
  ])
  expect(localTime(Date.UTC(2026, 2, 29, 0, 30), 'Europe/Berlin')).toBe('2026-03-29T01:30:00+01:00')
  expect(localTime(Date.UTC(2026, 2, 29, 1, 30), 'America/St_Johns')).toBe('2026-03-28T23:00:00-02:30')
})

// Books: a movement lies in the day that its own time says, whatever the clocks of the zone do at midnight.
test.each([
  ...['America/Santiago', 'America/Havana', 'Atlantic/Azores', 'Asia/Beirut', 'Africa/Cairo', 'Australia/Lord_Howe'],
  ...['Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Auckland', 'America/Santo_Domingo', 'UTC'],
])('each day of %s begins where the day before ends', (zone) => {
  const days = daysOf({ first: '2026-01-01', last: '2027-06-30' })
  dayStarts(days, zone).forEach((start, index) => {
    const day = days[index] ?? ''
    expect([dayIn(start - 1, zone), dayIn(start, zone)]).toEqual([dayBefore(day, 1), day])
  })
})

test('unknown zones are known as such', () => {
  expect([isZone('Europe/Berlin'), isZone('Mars/Olympus'), isZone('')]).toEqual([true, false, false])
})
