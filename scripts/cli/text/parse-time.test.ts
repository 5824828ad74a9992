import { expect, test } from 'vitest'
import { parseDuration, parseMoment } from './parse-time.ts'

test.each([
  ['0', 0],
  ['90m', 5_400_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
])('%s is a length of time', (text, ms) => expect(parseDuration(text)).toBe(ms))

test.each(['', '5', '1w', '-1h', '1.5h', '9999999h', 'h'])('%j is none', (text) => {
  expect(() => parseDuration(text)).toThrow('24h')
})

test('a moment is a date, a time with its zone, or how long ago', () => {
  expect(parseMoment('2026-10-01')).toBe(Date.UTC(2026, 9, 1))
  expect(parseMoment('2026-10-01T12:00:00Z')).toBe(Date.UTC(2026, 9, 1, 12))
  expect(parseMoment('2026-10-01T12:00+02:00')).toBe(Date.UTC(2026, 9, 1, 10))
  const before = Date.now()
  const hourAgo = parseMoment('1h')
  expect(hourAgo).toBeGreaterThanOrEqual(before - 3_600_000)
  expect(hourAgo).toBeLessThanOrEqual(Date.now() - 3_600_000)
})

test.each(['', 'tomorrow', '2026-13-01', '2026-10-01T12:00:00', '1790812800', '2026-10-01T99:00Z'])(
  '%j is none',
  (text) => {
    expect(() => parseMoment(text)).toThrow('for example')
  },
)
