import { expect, test } from 'vitest'
import { showDay, showDuration, showTime, showZone } from './time.ts'

const now = Date.UTC(2026, 10, 19, 18, 52)
const style = { zone: 'America/Santo_Domingo', now }

test('a time of today is a clock, other days and years say which', () => {
  expect(showTime(Date.UTC(2026, 10, 19, 18, 31, 7), style)).toBe('14:31')
  expect(showTime(Date.UTC(2026, 10, 19, 18, 31, 7), { ...style, detail: true })).toBe('14:31:07')
  expect(showTime(Date.UTC(2026, 10, 18, 13, 14), style)).toBe('18 Nov, 09:14')
  expect(showTime(Date.UTC(2025, 8, 1, 4, 5), style)).toBe('1 Sep 2025, 00:05')
})

test('the day is the one of the zone, not the one of UTC', () => {
  expect(showTime(Date.UTC(2026, 10, 20, 3, 59), style)).toBe('23:59')
  expect(showDay(Date.UTC(2026, 10, 20, 3, 59), style.zone)).toBe('19 Nov')
})

test('durations show their two largest units', () => {
  expect([0, 84, 999, 1_000, 252_000, 12_420_000, 172_800_000, 90_061_000].map(showDuration)).toEqual([
    '0 ms',
    '84 ms',
    '999 ms',
    '1 s',
    '4 min 12 s',
    '3 h 27 min',
    '2 d',
    '1 d 1 h',
  ])
  expect(showDuration(-5)).toBe('0 ms')
})

test('zones are named by offset and place', () => {
  expect(showZone('America/Santo_Domingo', now)).toBe('UTC−4, Santo Domingo')
  expect(showZone('UTC', now)).toBe('UTC')
  expect(showZone('Asia/Kolkata', now)).toBe('UTC+5:30, Kolkata')
})
