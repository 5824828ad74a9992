import type { Ms } from '#shared/domain/invoice/model.ts'

const DAY_MS = 86_400_000

/** Days of a time zone, oldest first, and the moment the first of them began. */
export interface ZoneDays {
  /** `2026-11-19`. */
  readonly days: readonly string[]
  readonly since: Ms
}

/** The last `count` days of a zone, including today. Throws RangeError on an unknown zone. */
export function lastDays(now: Ms, count: number, zone: string): ZoneDays {
  const today = Date.parse(`${dayOf(now, zone)}T00:00:00Z`)
  const days = Array.from({ length: count }, (_, index) => isoDay(today - (count - 1 - index) * DAY_MS))
  return { days, since: startOf(today - (count - 1) * DAY_MS, zone) }
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

function dayOf(at: Ms, zone: string): string {
  return isoDay(at + offsetAt(at, zone))
}

function isoDay(at: Ms): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** The moment a day began there: its UTC midnight shifted by the offset of that moment, which may differ from today's. */
function startOf(utcMidnight: Ms, zone: string): Ms {
  const guess = utcMidnight - offsetAt(utcMidnight, zone)
  return utcMidnight - offsetAt(guess, zone)
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
