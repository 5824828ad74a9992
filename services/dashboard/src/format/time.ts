/** How a time is displayed: the operator's time zone, an IANA name such as `America/Santo_Domingo`, and the moment that is "today". */
export interface TimeStyle {
  readonly zone: string
  readonly now: number
  /** Adds seconds: for detail pages, not for lists. */
  readonly detail?: boolean | undefined
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function partsOf(at: number, zone: string): Readonly<Record<string, string>> {
  const known = formatters.get(zone)
  const formatter =
    known ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
  if (known === undefined) formatters.set(zone, formatter)
  return Object.fromEntries(formatter.formatToParts(at).map(({ type, value }) => [type, value]))
}

/** Formats a time in ms since 1970: today `14:31`, with detail `14:31:07`; other days `18 Nov, 09:14`; other years with the year. */
export function showTime(at: number, { zone, now, detail }: TimeStyle): string {
  const then = partsOf(at, zone)
  const today = partsOf(now, zone)
  const month = then['month']?.slice(0, 3)
  const clock = `${then['hour']}:${then['minute']}${detail === true ? `:${then['second']}` : ''}`
  if (then['year'] !== today['year']) return `${then['day']} ${month} ${then['year']}, ${clock}`
  if (then['day'] === today['day'] && then['month'] === today['month']) return clock
  return `${then['day']} ${month}, ${clock}`
}

/** Writes the day alone: `18 Nov`. */
export function showDay(at: number, zone: string): string {
  const then = partsOf(at, zone)
  return `${then['day']} ${then['month']?.slice(0, 3)}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** Formats a duration by its two largest units: `4 min 12 s`, `3 h 27 min`, `2 d`, `84 ms`. Negative ones count as zero. */
export function showDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const first = UNITS.findIndex(([size]) => ms >= size)
  const words: string[] = []
  let rest = ms
  for (const [size, unit] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) words.push(`${count} ${unit}`)
  }
  return words.join(' ')
}

/** Formats a time zone with its offset at that moment: `UTC−4, Santo Domingo`. */
export function showZone(zone: string, at: number): string {
  const offset = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  const utc = (offset ?? 'UTC').replace(/^GMT(?:[+]0)?/, 'UTC').replace('-', '−')
  const place = zone.includes('/') ? zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ') : ''
  return place === '' ? utc : `${utc}, ${place}`
}
