import { showDecimal } from '../../format/amounts.ts'
import { ChartCard } from '../../parts/chart-card.tsx'
import type { CardQuery, Volume } from './answers.ts'
import { CardState } from './card-state.tsx'
import { VolumeBars } from './volume-bars.tsx'

const HEIGHT = 252

/** Paid volume by day in the reporting currency. */
export function VolumeCard({ query }: { readonly query: CardQuery<Volume> }) {
  const { data } = query
  if (data === undefined)
    return <CardState title="Paid volume by day" what="the volume" query={query} height={HEIGHT + 60} />
  const { reported } = data
  const title = `Paid volume by day, ${reported.currency}`
  const days = data.days.map(shortDay)
  return (
    <ChartCard
      title={title}
      finding={findingOf(data, days)}
      beside={
        <ul className="pm-legend">
          {reported.series.map(({ name }, index) => (
            <li key={name}>
              <i className={`pm-series-${index}`} aria-hidden />
              {name}
            </li>
          ))}
        </ul>
      }
      table={{
        head: ['Day', ...reported.series.map(({ name }) => name), 'Total'],
        rows: days.map((day, at) => [
          day,
          ...reported.series.map(({ amounts }) => showDecimal(amounts[at] ?? '0')),
          showDecimal(reported.totals[at] ?? '0'),
        ]),
      }}
    >
      <VolumeBars days={days} series={reported.series} height={HEIGHT} />
    </ChartCard>
  )
}

/** `2026-11-09` as `9 Nov`. */
function shortDay(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
    .format(Date.parse(`${day}T00:00:00Z`))
    .replace('Sept', 'Sep')
}

function findingOf({ currencies, reported }: Volume, days: readonly string[]): string {
  const { totals, amount, currency } = reported
  if (currencies.every(({ count }) => count === 0)) return 'Nothing was paid in this period.'
  if (reported.count === 0) return `Nothing that was paid has an exchange rate to ${currency}.`
  const best = totals.reduce((top, value, at) => (Number(value) > Number(totals[top] ?? 0) ? at : top), 0)
  const total = `${showDecimal(amount)} ${currency} paid`
  return `${total}. Best day: ${days[best]}, ${showDecimal(totals[best] ?? '0')}.`
}
