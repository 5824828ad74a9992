import { showDecimal } from '../../format/amounts.ts'
import { ChartCard } from '../../parts/chart-card.tsx'
import type { CardQuery, Volume } from './answers.ts'
import { CardState } from './card-state.tsx'
import { VolumeBars } from './volume-bars.tsx'

const HEIGHT = 252

/** Paid volume by day in the currency with the most payments. */
export function VolumeCard({ query }: { readonly query: CardQuery<Volume> }) {
  const { data } = query
  if (data === undefined)
    return <CardState title="Paid volume by day" what="the volume" query={query} height={HEIGHT + 60} />
  const currency = data.currencies[0]?.currency
  const title = currency === undefined ? 'Paid volume by day' : `Paid volume by day, ${currency}`
  const days = data.days.map(shortDay)
  return (
    <ChartCard
      title={title}
      finding={findingOf(data, days)}
      beside={
        <ul className="pm-legend">
          {data.series.map(({ name }, index) => (
            <li key={name}>
              <i className={`pm-series-${index}`} aria-hidden />
              {name}
            </li>
          ))}
        </ul>
      }
      table={{
        head: ['Day', ...data.series.map(({ name }) => name), 'Total'],
        rows: days.map((day, at) => [
          day,
          ...data.series.map(({ amounts }) => showDecimal(amounts[at] ?? '0')),
          showDecimal(data.totals[at] ?? '0'),
        ]),
      }}
    >
      <VolumeBars days={days} series={data.series} height={HEIGHT} />
    </ChartCard>
  )
}

/** `2026-11-09` as `9 Nov`. */
function shortDay(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
    .format(Date.parse(`${day}T00:00:00Z`))
    .replace('Sept', 'Sep')
}

function findingOf({ totals, currencies }: Volume, days: readonly string[]): string {
  const [main] = currencies
  if (main === undefined) return 'Nothing was paid in this period.'
  const best = totals.reduce((top, value, at) => (Number(value) > Number(totals[top] ?? 0) ? at : top), 0)
  const total = `${showDecimal(main.amount)} ${main.currency} paid`
  return `${total}. Best day: ${days[best]}, ${showDecimal(totals[best] ?? '0')}.`
}
