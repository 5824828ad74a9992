import { InvalidArgumentError } from 'commander'

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration on the command line, `90m`, `24h` or `7d`, in milliseconds; `0` is none. */
export function parseDuration(text: string): number {
  const { count, unit } = /^(?<count>\d{1,6})(?<unit>[mhd])$/.exec(text)?.groups ?? {}
  if (text === '0') return 0
  if (unit !== 'm' && unit !== 'h' && unit !== 'd') throw new InvalidArgumentError('for example 90m, 24h or 7d')
  return Number(count) * UNIT_MS[unit]
}

/** A time on the command line, in Unix milliseconds: ISO 8601 with a time zone, a date (UTC), or how long ago. */
export function parseMoment(text: string): number {
  if (/^\d{1,6}[mhd]$/.test(text)) return Date.now() - parseDuration(text)
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const at = isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw new InvalidArgumentError('for example 2026-10-01T12:00:00Z, 2026-10-01 or 24h (ago)')
  return at
}
