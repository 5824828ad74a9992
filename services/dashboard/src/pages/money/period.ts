import { dayBefore, dayIn, dayStarts, daysOf, monthOf } from '#shared/contracts/zone-days.ts'

const DAY_MS = 86_400_000
const PERIODS = [
  { value: 'any', label: 'Any time', days: null },
  { value: '1', label: 'Last 24 hours', days: 1 },
  { value: '7', label: 'Last 7 days', days: 7 },
  { value: '30', label: 'Last 30 days', days: 30 },
  { value: '90', label: 'Last 90 days', days: 90 },
] as const
const MONTHS = [
  { value: 'month', label: 'This month', before: 0 },
  { value: 'last', label: 'Last month', before: 1 },
] as const

/** The choice that shows two fields for the first and the last day. */
export const BY_DATES = 'dates'

/** Choices of a filter by time. */
export const PERIOD_CHOICES = [...PERIODS, ...MONTHS, { value: BY_DATES, label: 'From … until …' }].map(
  ({ value, label }) => ({ value, label }),
)

/** Which time of a row a period is of, in a list's URL. */
export const TIME_CHOICES = [
  { value: 'created', label: 'Created' },
  { value: 'received', label: 'Received' },
  { value: 'confirmed', label: 'Confirmed' },
  { value: 'paid', label: 'Invoice paid' },
] as const
/** A time of a row. */
export type TimeChoice = (typeof TIME_CHOICES)[number]['value']

/** The time that a URL names; creation when it names none. */
export const readTime = (by: string): TimeChoice => TIME_CHOICES.find(({ value }) => value === by)?.value ?? 'created'

/** The word for a time of a row. */
export const timeLabel = (by: TimeChoice): string => TIME_CHOICES.find(({ value }) => value === by)?.label ?? ''

/** Filters of a period in a list's URL: `since` and `until` are days, `2026-11-19`, both inclusive, or empty. */
export const PERIOD_FILTERS = { period: 'any', since: '', until: '' } as const

/** Values of the filters of a period. */
export type PeriodFilters = { readonly [K in keyof typeof PERIOD_FILTERS]: string }

/** A period in Unix ms: `to` is exclusive, null = without bound. `problem` says why the dates that were entered are no period. */
export interface Period {
  readonly from: number | null
  readonly to: number | null
  readonly problem: string | null
}

/**
 * The period of a list. Days and months are those of a time zone. Rolling periods begin at whole minutes so that the query key stays the same.
 */
export function readPeriod({ period, since, until }: PeriodFilters, now: number, zone: string): Period {
  if (period === BY_DATES) {
    const from = startOf(since, 0, zone)
    const to = startOf(until, 1, zone)
    if (from !== null && to !== null && from >= to) {
      return { from: null, to: null, problem: 'The first day is after the last one: all are shown.' }
    }
    return { from, to, problem: null }
  }
  const month = MONTHS.find((one) => one.value === period)
  if (month !== undefined) {
    const { first, last } = monthOf(dayIn(now, zone), month.before)
    return { from: startOf(first, 0, zone), to: startOf(last, 1, zone), problem: null }
  }
  const days = PERIODS.find((one) => one.value === period)?.days ?? null
  if (days === null) return { from: null, to: null, problem: null }
  return { from: Math.floor(now / 60_000) * 60_000 - days * DAY_MS, to: null, problem: null }
}

/** Midnight of a day in a zone, moved by whole days; null for an empty or an unknown one. */
function startOf(day: string, later: number, zone: string): number | null {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && daysOf({ first: day, last: day }).length === 1
  const [at] = isDay ? dayStarts([dayBefore(day, -later)], zone) : []
  return at === undefined || at < 0 ? null : at
}
