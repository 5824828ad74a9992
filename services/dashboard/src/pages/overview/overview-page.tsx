import { Button, NativeSelect } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconAlertTriangle, IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { trpc } from '#services/dashboard/src/api/trpc.ts'
import { showAxisTick, showCount, showDecimal, showShare } from '#services/dashboard/src/format/amounts.ts'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { ChartCard } from '#services/dashboard/src/parts/chart-card.tsx'
import { EmptyState } from '#services/dashboard/src/parts/empty-state.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { StatusBadge } from '#services/dashboard/src/parts/status-badge.tsx'
import { useUrlFilters } from '#services/dashboard/src/parts/table/use-url-filters.ts'
import { Time } from '#services/dashboard/src/parts/time.tsx'
import { useNow } from '#services/dashboard/src/parts/use-now.ts'
import { placePath, usePlace, useScope, useTo } from '#services/dashboard/src/session/scope.ts'
import { useSession } from '#services/dashboard/src/session/session.ts'
import { useZone, useZoneOfFirstBrowser } from '#services/dashboard/src/session/use-zone.ts'
import { dayIn, daysOf } from '#shared/contracts/zone-days.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { BY_DATES, monthOf } from '../money/period.ts'
import { DayField } from '../money/period-filter.tsx'
import type { CardQuery, Chains, FirstStepsDone, Funnel, Volume } from './answers.ts'
import { AttentionStrip } from './attention-strip.tsx'
import { CardState } from './card-state.tsx'
import { Figures } from './figures.tsx'
import { stackBars } from './stack-bars.ts'
import { WebhooksCard } from './webhooks-card.tsx'

const FILTERS = { days: '14', since: '', until: '' }
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
  const volume = useQuery(trpc.overview.volume.queryOptions(input, { ...kept, enabled: begun }))
  const funnel = useQuery(trpc.overview.funnel.queryOptions(input, { ...kept, enabled: begun }))
  const webhooks = useQuery(trpc.overview.webhooks.queryOptions(scope, { refetchInterval: 15_000 }))
  const chains = useQuery(trpc.overview.chains.queryOptions(scope, { refetchInterval: 15_000 }))
  const span = (
    <>
      <NativeSelect
        aria-label="Time span"
        data={options}
        value={filters.days}
        onChange={({ currentTarget }) => set({ days: currentTarget.value })}
        w={170}
      />
      {filters.days === BY_DATES ? (
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
              <FunnelCard query={funnel} />
            </div>
          </>
        ) : (
          <FirstSteps done={steps.data} />
        )}
        <div className="pm-overview-row pm-overview-tables">
          <WebhooksCard query={webhooks} />
          <ChainsCard query={chains} />
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

/** A lag of this many blocks fills the bar. */
const FULL_BLOCKS = 20

/** The lag of each network's scanner. */
export function ChainsCard({ query }: { readonly query: CardQuery<Chains> }) {
  const { isOperator } = useSession()
  const { mode } = useScope()
  const { data } = query
  if (data === undefined) return <CardState title="Network sync" what="network status" query={query} height={180} />
  return (
    <Card title="Network sync" beside={isOperator ? <Link to="/system/chains">System</Link> : null}>
      {data.length === 0 ? (
        <EmptyState title={`No network is connected in ${mode} mode.`} />
      ) : (
        <dl className="pm-chains pm-num">
          {data.map((chain) => (
            <div key={chain.network} className={`pm-chain-${chain.status}`}>
              <dt>{NETWORKS[chain.network].name}</dt>
              <dd className="pm-track" aria-hidden>
                <i style={{ width: `${barOf(chain)}%` }} />
              </dd>
              <dd>
                {chain.status === 'live' || chain.status === 'never_scanned' ? null : (
                  <IconAlertTriangle size={14} aria-hidden />
                )}{' '}
                {labelsOf(chain)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}

function barOf({ status, lagBlocks }: Chains[number]): number {
  if (status === 'halted' || status === 'stuck') return 100
  return Math.min(100, ((lagBlocks ?? 0) / FULL_BLOCKS) * 100)
}

function labelsOf({ status, lagBlocks }: Chains[number]): string {
  if (status === 'halted') return 'halted'
  if (status === 'never_scanned' || lagBlocks === null) return 'not scanned yet'
  return `${status === 'stuck' ? 'stuck, ' : ''}${lagBlocks} ${lagBlocks === 1 ? 'block' : 'blocks'}`
}

/** Before the first payment: the steps to take; completed ones are ticked automatically. */
export function FirstSteps({ done }: { readonly done: FirstStepsDone | undefined }) {
  const { workspaceId, mode } = usePlace()
  const to = useTo()
  const steps = [
    {
      is: done?.wallet === true || mode === 'test',
      page: 'wallets/add',
      title: 'Add a wallet',
      text: walletText(mode),
    },
    { is: done?.key === true, page: 'keys', title: 'Create an API key', text: 'Your shop uses it to create invoices.' },
    {
      is: done?.webhook === true,
      page: 'webhooks/endpoints',
      title: 'Add a webhook endpoint',
      text: 'We notify your shop of every payment.',
    },
  ]
  return (
    <Card>
      <EmptyState title="No payments yet. Create a test invoice and pay it in one click.">
        <Button component={Link} to={placePath(workspaceId, 'test', 'invoices/new')}>
          Create test invoice
        </Button>
      </EmptyState>
      <ol className="pm-first-steps">
        {steps.map(({ is, page, title, text }) => (
          <li key={page}>
            {is ? (
              <IconCircleCheckFilled size={20} className="pm-better" aria-hidden />
            ) : (
              <IconCircleDashed size={20} className="pm-dim" aria-hidden />
            )}
            <div>
              <Link to={to(page)}>{title}</Link> <span className="pm-muted">{is ? 'Done.' : text}</span>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function walletText(mode: 'live' | 'test'): string {
  return mode === 'live' ? 'Paste a public key. Money goes straight to you.' : 'Test mode has a built-in wallet.'
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

/** How many invoices reached each step, and how they ended: all end states, so that the shares add up. */
export function FunnelCard({ query }: { readonly query: CardQuery<Funnel> }) {
  const to = useTo()
  const { data } = query
  if (data === undefined) return <CardState title="Payment funnel" what="invoices" query={query} height={300} />
  const { created } = data
  const shareOf = (count: number) => (created === 0 ? 0 : count / created)
  const steps = [
    ['Created', created],
    ['Coin chosen', data.coinChosen],
    ['Full amount received', data.fullAmountSeen],
    ['Paid or overpaid', data.paid],
  ] as const
  const countOf = (status: string) => data.byStatus.find((row) => row.status === status)?.count ?? 0
  const ended = ['paid', 'overpaid', 'expired', 'cancelled'] as const
  const open = created - ended.reduce((sum, status) => sum + countOf(status), 0)
  return (
    <Card title="Payment funnel" beside={<Link to={to('invoices')}>All invoices</Link>}>
      <dl className="pm-funnel pm-num">
        {steps.map(([label, count]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <b>{showCount(count)}</b> <span className="pm-muted">{showShare(shareOf(count))}</span>
            </dd>
            <dd className="pm-track" aria-hidden>
              <i style={{ width: `${shareOf(count) * 100}%` }} />
            </dd>
          </div>
        ))}
      </dl>
      <h3 className="pm-funnel-head">Outcomes</h3>
      <ul className="pm-ends pm-num">
        {ended.map((status) => (
          <li key={status}>
            <StatusBadge of="invoice" status={status} />
            <b>{showCount(countOf(status))}</b>
            <span className="pm-muted">{showShare(shareOf(countOf(status)))}</span>
          </li>
        ))}
        <li>
          <StatusBadge of="flag" status="open" />
          <b>{showCount(open)}</b>
          <span className="pm-muted">{showShare(shareOf(open))}</span>
        </li>
      </ul>
    </Card>
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
