import type { FilterChip } from '../../parts/table/filter-chip.ts'
import { BY_DATES, PERIOD_CHOICES, PERIOD_FILTERS, type PeriodFilters } from './period.ts'

/** The chip of a period in a list's URL; none while it covers any time. `label` says of what the time is: "Created". */
export function periodChip(label: string, { period, since, until }: PeriodFilters): readonly FilterChip[] {
  const words = PERIOD_CHOICES.find(({ value }) => value === period)?.label
  if (period === PERIOD_FILTERS.period || words === undefined) return []
  const days = [since === '' ? '' : `from ${since}`, until === '' ? '' : `until ${until}`].filter((day) => day !== '')
  const value = period === BY_DATES ? days.join(' ') || 'any day' : words
  return [{ label, value, removal: { ...PERIOD_FILTERS } }]
}
