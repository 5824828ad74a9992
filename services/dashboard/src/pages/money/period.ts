const DAY_MS = 86_400_000
const PERIODS = [
  { value: 'any', label: 'Any time', days: null },
  { value: '1', label: 'Last 24 hours', days: 1 },
  { value: '7', label: 'Last 7 days', days: 7 },
  { value: '30', label: 'Last 30 days', days: 30 },
  { value: '90', label: 'Last 90 days', days: 90 },
] as const

/** Choices of a filter by time of creation. */
export const PERIOD_CHOICES = PERIODS.map(({ value, label }) => ({ value, label }))

/** Start of a period, in whole minutes so that the query key stays the same; null = without bound. */
export function periodStart(value: string, now: number): number | null {
  const days = PERIODS.find((one) => one.value === value)?.days ?? null
  return days === null ? null : Math.floor(now / 60_000) * 60_000 - days * DAY_MS
}
