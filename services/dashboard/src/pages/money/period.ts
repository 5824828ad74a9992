const DAY_MS = 86_400_000
const PERIODS = [
  { value: 'any', label: 'Any time', days: null },
  { value: '1', label: 'Last 24 hours', days: 1 },
  { value: '7', label: 'Last 7 days', days: 7 },
  { value: '30', label: 'Last 30 days', days: 30 },
  { value: '90', label: 'Last 90 days', days: 90 },
] as const

/** The choice that shows two fields for the first and the last day. */
export const BY_DATES = 'dates'

/** Choices of a filter by time. */
export const PERIOD_CHOICES = [
  ...PERIODS.map(({ value, label }) => ({ value, label })),
  { value: BY_DATES, label: 'From … until …' },
]

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
 * The period of a list. Days begin at midnight of the given clock: the operator's, or UTC, where "last 7 days" are whole days and include
 * today. Rolling periods begin at whole minutes so that the query key stays the same.
 */
export function readPeriod({ period, since, until }: PeriodFilters, now: number, clock: 'local' | 'utc'): Period {
  if (period === BY_DATES) {
    const from = startOfDay(since, 0, clock)
    const to = startOfDay(until, 1, clock)
    if (from !== null && to !== null && from >= to) {
      return { from: null, to: null, problem: 'The first day is after the last one: all are shown.' }
    }
    return { from, to, problem: null }
  }
  const days = PERIODS.find((one) => one.value === period)?.days ?? null
  if (days === null) return { from: null, to: null, problem: null }
  const from =
    clock === 'utc'
      ? Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS
      : Math.floor(now / 60_000) * 60_000 - days * DAY_MS
  return { from, to: null, problem: null }
}

/** Midnight of a day, moved by whole days; null for an empty or an unknown one. */
function startOfDay(day: string, later: number, clock: 'local' | 'utc'): number | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  if (year === undefined) return null
  const parts = [Number(year), Number(month) - 1, Number(date) + later] as const
  const at = clock === 'utc' ? Date.UTC(...parts) : new Date(...parts).getTime()
  return Number.isNaN(at) || at < 0 ? null : at
}
