import { NativeSelect } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { trpc } from '#services/dashboard/src/api/trpc.ts'
import { showAxisTick, showDecimal } from '#services/dashboard/src/format/amounts.ts'
import { ChartCard } from '#services/dashboard/src/parts/chart-card.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { useUrlFilters } from '#services/dashboard/src/parts/table/use-url-filters.ts'
import { Time } from '#services/dashboard/src/parts/time.tsx'
import { useLoaded } from '#services/dashboard/src/parts/use-loaded.ts'
import { useNow } from '#services/dashboard/src/parts/use-now.ts'
import { useScope } from '#services/dashboard/src/session/scope.ts'
import { useZone, useZoneOfFirstBrowser } from '#services/dashboard/src/session/use-zone.ts'
import { dayIn, daysOf, monthOf } from '#shared/contracts/zone-days.ts'
import { bindText } from '../../parts/bind-text.ts'
import type { CardQuery, Volume } from './answers.ts'
import { AttentionStrip } from './attention-strip.tsx'
import { CardState } from './card-state.tsx'
import { Figures } from './figures.tsx'
import { stackBars } from './stack-bars.ts'

const FILTERS = { days: '14', since: '', until: '' }
/** The choice of two days. */
const BY_DATES = 'dates'
const SPANS = [7, 14, 30, 90] as const
const SPAN_OPTIONS = SPANS.map((days) => ({ value: String(days), label: `Last ${days} days` }))
/** Months back that the choice names; figures of 13 months are kept. */
const MONTHS = 12
const MONTH_NAME = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** The front page: incoming money and problems. Each card loads separately, so that a failure affects only one. */
export function OverviewPage() {
  const scope = useScope()
  const { filters, set } = useUrlFilters(FILTERS)
  const zone = useZone()
  const { chosen, before, options } = readSpan(filters, dayIn(useNow(60_000), zone))
  useZoneOfFirstBrowser()
  const input = { ...scope, span: chosen, zone }
  // Figures follow a change some seconds later, and nothing signals that they did.
  const kept = { placeholderData: keepPreviousData, refetchInterval: 15_000 }
  const steps = useQuery(trpc.overview.firstSteps.queryOptions(scope))
  const begun = steps.data === undefined || steps.data.paid
  const byDates = filters.days === BY_DATES
  const FirstSteps = useLoaded(!begun, async () => (await import('./first-steps.tsx')).FirstSteps)
  // Figures and their chart are shown first.
  const FunnelCard = useLoaded(begun, async () => (await import('./funnel-card.tsx')).FunnelCard)
  const WebhooksCard = useLoaded(true, async () => (await import('./webhooks-card.tsx')).WebhooksCard)
  const ChainsCard = useLoaded(true, async () => (await import('./chains-card.tsx')).ChainsCard)
  const DayField = useLoaded(byDates, async () => (await import('../money/period-filter.tsx')).DayField)
  const volume = useQuery(trpc.overview.volume.queryOptions(input, { ...kept, enabled: begun }))
  const funnel = useQuery(trpc.overview.funnel.queryOptions(input, { ...kept, enabled: begun }))
  const webhooks = useQuery(trpc.overview.webhooks.queryOptions(scope, { refetchInterval: 15_000 }))
  const chains = useQuery(trpc.overview.chains.queryOptions(scope, { refetchInterval: 15_000 }))
  const span = (
    <>
      <NativeSelect
        aria-label="Time span"
        data={options}
        {...bindText(filters.days, (days) => set({ days }))}
        w={170}
      />
      {byDates && DayField !== null ? (
        <>
          <DayField label="From" day={filters.since} isWrong={false} onChange={(since) => set({ since })} />
          <DayField label="Until" day={filters.until} isWrong={false} onChange={(until) => set({ until })} />
        </>
      ) : null}
    </>
  )
  return (
    <Page title="Overview" actions={begun ? span : null}>
      <div className="pm-stack">
        <AttentionStrip webhooks={webhooks.data} chains={chains.data} />
        {begun ? (
          <>
            {volume.data === undefined ? null : <FiguresAge asOf={volume.data.asOf} readAt={volume.dataUpdatedAt} />}
            <Figures before={before} volume={volume} funnel={funnel} webhooks={webhooks} />
            <div className="pm-overview-row">
              <VolumeCard query={volume} />
              {FunnelCard === null ? (
                <CardState title="Payment funnel" what="invoices" query={funnel} height={300} />
              ) : (
                <FunnelCard query={funnel} />
              )}
            </div>
          </>
        ) : FirstSteps === null ? null : (
          <FirstSteps done={steps.data} />
        )}
        <div className="pm-overview-row pm-overview-tables">
          {WebhooksCard === null ? null : <WebhooksCard query={webhooks} />}
          {ChainsCard === null ? null : <ChainsCard query={chains} />}
        </div>
      </div>
    </Page>
  )
}

/** What an address chooses: days back from today, a month as its first day, or two days; without two days of at most half a year, 14 days. */
function readSpan({ days, since, until }: { readonly [K in keyof typeof FILTERS]: string }, today: string) {
  const months = Array.from({ length: MONTHS + 1 }, (_, back) => monthOf(today, back).first)
  const options = [
    ...SPAN_OPTIONS,
    ...months.map((first) => ({ value: first, label: MONTH_NAME.format(Date.parse(first)) })),
    { value: BY_DATES, label: 'From … until …' },
  ]
  const span = SPANS.find((one) => String(one) === days)
  const dates = { first: since, last: until }
  const range = days === BY_DATES && isRange(dates) ? dates : months.includes(days) ? monthOf(days) : null
  const count = range === null ? (span ?? 14) : daysOf(range).length
  return { chosen: range ?? span ?? (14 as const), before: `previous ${count} days`, options }
}

function isRange(range: { readonly first: string; readonly last: string }): boolean {
  const { length } = daysOf(range)
  return length > 0 && length <= 190
}

/** Figures are counted every few seconds; a busy installation takes some minutes. */
const OLD_AFTER_MS = 600_000

/** States that figures do not include the newest changes; nothing while they do. `readAt` is when the page read them. */
export function FiguresAge({ asOf, readAt }: { readonly asOf: number | null; readonly readAt: number }) {
  if (asOf !== null && readAt - asOf < OLD_AFTER_MS) return null
  return (
    <p role="status" className="pm-muted pm-small">
      {asOf === null ? (
        'The invoices of the last months are being counted. Figures are not complete yet.'
      ) : (
        <>
          Figures include changes until <Time at={asOf} />. Check that the maintenance process runs.
        </>
      )}
    </p>
  )
}

const FILLS = ['var(--chart-1)', 'var(--chart-2)', 'url(#pm-hatch)']
/** Margins for the ticks at the left, the days below and half a line above. */
const LEFT = 52
const BELOW = 26
const ABOVE = 8
const RIGHT = 8

/** Stacked bars, one per day. A drawing only: `ChartCard` repeats its numbers as a sentence and a table. */
export function VolumeBars(props: {
  readonly days: readonly string[]
  readonly series: readonly { readonly name: string; readonly amounts: readonly string[] }[]
  readonly height: number
}) {
  const { ref, width } = useElementSize()
  const plot = { width: Math.max(0, width - LEFT - RIGHT), height: props.height - ABOVE - BELOW }
  const { ticks, labels, parts } = stackBars(
    props.series.map(({ amounts }) => amounts),
    // Before its first measurement the chart has no width: it keeps its space and draws nothing.
    width === 0 ? 0 : props.days.length,
    plot,
  )
  return (
    <div ref={ref}>
      <svg className="pm-bars" width={width} height={props.height} aria-hidden="true">
        <defs>
          <pattern id="pm-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" fill="var(--chart-3)" />
            <line x1="0" y1="0" x2="0" y2="6" stroke="var(--chart-2)" strokeWidth="2.5" />
          </pattern>
        </defs>
        <g transform={`translate(${LEFT} ${ABOVE})`}>
          {ticks.map(({ value, y }) => (
            <g key={value}>
              <line x2={plot.width} y1={y} y2={y} />
              <text x={-8} y={y} dy="0.32em" textAnchor="end">
                {showAxisTick(value)}
              </text>
            </g>
          ))}
          {parts.map(({ series, x, ...size }) => (
            <rect key={`${x}-${series}`} data-part x={x} {...size} rx={2} fill={FILLS[series] ?? 'url(#pm-hatch)'} />
          ))}
          {labels.map(({ day, x }) => (
            <text key={day} x={x} y={plot.height + 18} textAnchor="middle">
              {props.days[day]}
            </text>
          ))}
        </g>
      </svg>
    </div>
  )
}

const HEIGHT = 252

/** What was received by day in the reporting currency. */
export function VolumeCard({ query }: { readonly query: CardQuery<Volume> }) {
  const { data } = query
  if (data === undefined)
    return <CardState title="Received by day" what="the volume" query={query} height={HEIGHT + 60} />
  const { reported } = data
  const title = `Received by day, ${reported.currency}`
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
  const { totals, received, currency } = reported
  if (currencies.every((one) => Number(one.received) === 0)) return 'Nothing was received in this period.'
  if (reported.series.length === 0) return `Nothing that was received has an exchange rate to ${currency}.`
  const best = totals.reduce((top, value, at) => (Number(value) > Number(totals[top] ?? 0) ? at : top), 0)
  const total = `${showDecimal(received)} ${currency} received`
  return `${total}. Best day: ${days[best]}, ${showDecimal(totals[best] ?? '0')}.`
}
