import type { Ms } from '#shared/domain/invoice/model.ts'

const DAY_MS = 86_400_000

/** Days from the first to the last, both included: `2026-11-19`. */
export interface DayRange {
  readonly first: string
  readonly last: string
}

/** The last `count` days of a zone, including today. Throws RangeError on an unknown zone. */
export function lastDays(now: Ms, count: number, zone: string): DayRange {
  const last = dayIn(now, zone)
  return { first: dayBefore(last, count - 1), last }
}

/** The days of a range, oldest first; empty when it ends before it begins. */
export function daysOf({ first, last }: DayRange): readonly string[] {
  const [from, to] = [Date.parse(first), Date.parse(last)]
  const count = Math.max(0, Math.round((to - from) / DAY_MS) + 1)
  return Array.from({ length: count }, (_, index) => isoDay(from + index * DAY_MS))
}

/** The day so many days before another; after it for a negative number. */
export const dayBefore = (day: string, count: number): string => isoDay(Date.parse(day) - count * DAY_MS)

/** The first and the last day of the month of a day, or of one some months before it. */
export function monthOf(day: string, before = 0): DayRange {
  const [year = 0, month = 1] = day.split('-').map(Number)
  const first = Date.UTC(year, month - 1 - before, 1)
  const next = Date.UTC(year, month - before, 1)
  return { first: isoDay(first), last: dayBefore(isoDay(next), 1) }
}

/** When each of these days began in a zone, in the same order. Throws RangeError on an unknown zone. */
export function dayStarts(days: readonly string[], zone: string): readonly Ms[] {
  return days.map((day) => startOf(Date.parse(`${day}T00:00:00Z`), zone))
}

/** Whether this runtime supports the zone. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The day of a moment in a zone. */
export function dayIn(at: Ms, zone: string): string {
  return isoDay(at + offsetAt(at, zone))
}

/** A moment as ISO 8601 with the zone's offset of that moment: `2026-11-01T01:30:00-04:00`. */
export function localTime(at: Ms, zone: string): string {
  const offset = offsetAt(at, zone)
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  const sign = offset < 0 ? '-' : '+'
  return `${new Date(at + offset).toISOString().slice(0, 19)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function isoDay(at: Ms): string {
  return new Date(at).toISOString().slice(0, 10)
}

/**
 * The first moment of a day there: where the clock skips its midnight, the moment of that change. One of the offsets of a day before and a day after it
 * is the right one; a candidate by the other lies in the day before, or later in the day.
 */
function startOf(utcMidnight: Ms, zone: string): Ms {
  const around = [utcMidnight - DAY_MS, utcMidnight + DAY_MS].map((at) => utcMidnight - offsetAt(at, zone))
  const inDay = around.filter((at) => dayIn(at, zone) === isoDay(utcMidnight))
  return Math.min(...(inDay.length > 0 ? inDay : around))
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** Creating a formatter costs far more than using it; there are a few hundred zones. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  clocks.set(zone, clock)
  return clock
}

function offsetAt(at: Ms, zone: string): Ms {
  const parts = clockOf(zone).formatToParts(at)
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return local - Math.floor(at / 1_000) * 1_000
}
