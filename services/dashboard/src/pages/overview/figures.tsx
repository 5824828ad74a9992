import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { showCount, showDecimal, showShare } from '#services/dashboard/src/format/amounts.ts'
import { showDuration } from '#services/dashboard/src/format/time.ts'
import { useTo } from '#services/dashboard/src/session/scope.ts'
import type { CardQuery, Funnel, Volume, Webhooks } from './answers.ts'
import { CardState } from './card-state.tsx'
import { Sparkline } from './sparkline.tsx'

/** The four figures with their trend. */
export function Figures(props: {
  /** Of the period before: "previous 14 days". */
  readonly before: string
  readonly volume: CardQuery<Volume>
  readonly funnel: CardQuery<Funnel>
  readonly webhooks: CardQuery<Webhooks>
}) {
  return (
    <div className="pm-figures">
      <Received query={props.volume} before={props.before} />
      <Conversion query={props.funnel} />
      <MedianTime query={props.funnel} />
      <Delivered query={props.webhooks} />
    </div>
  )
}

const HEIGHT = 96

/** Money that came and counts, at the price's rate; what the invoices asked for is beside it, never in it. */
function Received({ query, before: words }: { readonly query: CardQuery<Volume>; readonly before: string }) {
  const { data } = query
  if (data === undefined) return <CardState title="Received" what="the volume" query={query} height={HEIGHT} />
  const { reported, currencies } = data
  const before = Number(reported.before)
  const change = before <= 0 || reported.missingBefore > 0 ? null : Number(reported.received) / before - 1
  return (
    <Figure
      title="Received"
      value={showDecimal(reported.received)}
      unit={reported.currency}
      trend={reported.totals.map(Number)}
    >
      {change === null ? null : (
        <Change better={change >= 0} up={change >= 0}>
          {showShare(Math.abs(change))}
        </Change>
      )}{' '}
      {beforeWords(data, words)}
      {currencies.length > 0 ? <VolumeDetails volume={data} /> : null}
    </Figure>
  )
}

function beforeWords({ reported }: Volume, before: string): string {
  if (reported.missingBefore > 0) return `the ${before} have payments without a rate`
  return Number(reported.before) === 0 ? `none in the ${before}` : `vs ${before}`
}

function Conversion({ query }: { readonly query: CardQuery<Funnel> }) {
  const { data } = query
  if (data === undefined) return <CardState title="Conversion" what="invoices" query={query} height={HEIGHT} />
  const share = data.created === 0 ? null : data.paid / data.created
  const before = data.before.created === 0 ? null : data.before.paid / data.before.created
  const points = share === null || before === null ? null : (share - before) * 100
  return (
    <Figure
      title="Conversion"
      value={share === null ? '–' : showShare(share)}
      trend={data.byDay.map(({ created, paid }) => (created === 0 ? 0 : paid / created))}
    >
      {points === null ? null : (
        <Change better={points >= 0} up={points >= 0}>
          {Math.abs(points).toFixed(1)} points
        </Change>
      )}{' '}
      {showCount(data.paid)} of {showCount(data.created)}
    </Figure>
  )
}

function MedianTime({ query }: { readonly query: CardQuery<Funnel> }) {
  const { data } = query
  if (data === undefined) return <CardState title="Median time to paid" what="invoices" query={query} height={HEIGHT} />
  const { medianMs, beforeMedianMs } = data
  const change = medianMs === null || beforeMedianMs === null ? null : medianMs - beforeMedianMs
  return (
    <Figure
      title="Median time to paid"
      value={medianMs === null ? '–' : showDuration(medianMs)}
      trend={data.byDay.flatMap((day) => (day.medianMs === null ? [] : [day.medianMs]))}
    >
      {change === null || change === 0 ? null : (
        <Change better={change < 0} up={change > 0}>
          {showDuration(Math.abs(change))}
        </Change>
      )}{' '}
      from coin chosen
    </Figure>
  )
}

function Delivered({ query }: { readonly query: CardQuery<Webhooks> }) {
  const { data } = query
  if (data === undefined)
    return <CardState title="Webhooks delivered" what="deliveries" query={query} height={HEIGHT} />
  const { tried, succeeded, firstTry, failed, waiting, retrying, firstAttemptP99Ms } = data
  const words = [
    ...(tried === 0 ? [] : [`${showShare(firstTry / tried)} on the first attempt`]),
    ...(retrying === 0 ? [] : [`${showCount(retrying)} retrying`]),
    ...(waiting > retrying ? [`${showCount(waiting - retrying)} queued`] : []),
    ...(failed === 0 ? [] : [`${showCount(failed)} failed`]),
    ...(firstAttemptP99Ms === null
      ? ['last 24 hours']
      : [`99 % of first attempts within ${showDuration(firstAttemptP99Ms)}`]),
  ]
  return (
    <Figure title="Webhooks delivered" value={tried === 0 ? '–' : showShare(succeeded / tried, 2)}>
      {words.join(' · ')}
    </Figure>
  )
}

function Figure(props: {
  readonly title: string
  readonly value: string
  readonly unit?: string | undefined
  readonly trend?: readonly number[]
  readonly children: ReactNode
}) {
  return (
    <section className="pm-card pm-figure" aria-label={props.title}>
      <div className="pm-figure-head">
        <h2>{props.title}</h2>
        {props.trend === undefined ? null : <Sparkline values={props.trend} />}
      </div>
      <p className="pm-figure-value pm-num">
        {props.value}
        {props.unit === undefined ? null : <small> {props.unit}</small>}
      </p>
      <div className="pm-muted pm-small pm-num">{props.children}</div>
    </section>
  )
}

function Change(props: { readonly better: boolean; readonly up: boolean; readonly children: ReactNode }) {
  return (
    <b className={props.better ? 'pm-better' : 'pm-worse'}>
      {props.up ? '▲' : '▼'} <span className="unseen">{props.up ? 'up ' : 'down '}</span>
      {props.children}
    </b>
  )
}

/** The three figures that are never one: price, received, and what is short or above it; by currency too. */
function VolumeDetails({ volume }: { readonly volume: Volume }) {
  const to = useTo()
  const { reported } = volume
  const left = reported.missing.reduce((sum, { count }) => sum + count, 0)
  const others = volume.currencies.filter(({ currency }) => currency !== reported.currency)
  return (
    <details className="pm-currencies">
      <summary>
        Price, refunds{others.length === 0 ? '' : `, ${volume.currencies.length} currencies`}
        {left === 0 ? '' : `, ${showCount(left)} not included`}
      </summary>
      <ul>
        <AmountLines amounts={reported} />
      </ul>
      {others.length === 0
        ? null
        : volume.currencies.map((amounts) => (
            <ul key={amounts.currency} aria-label={amounts.currency}>
              <AmountLines amounts={amounts} />
              {missingWords(reported, amounts.currency)}
            </ul>
          ))}
      <p>
        Received is what came and counts, at the rate of the price, on the day it was confirmed. At market it is valued
        at the moment it came. What is short of the price, or above it, counts on the day the invoice was paid; what
        changes it later counts on its own day. Converted to {reported.currency} at the exchange rate of the moment each
        invoice was created; what has no stored rate is not included. <Link to={to('settings/pricing')}>Change</Link>
      </p>
    </details>
  )
}

/** Amounts in one currency; those that are zero are left out, but for what was received. */
function AmountLines({ amounts }: { readonly amounts: Volume['currencies'][number] }) {
  const { currency, count, unpriced } = amounts
  const lines = [
    [amounts.received, 'received'],
    [
      amounts.marketReceived,
      `received, at market${unpriced === 0 ? '' : `, without ${showCount(unpriced)} that have no rate`}`,
    ],
    [amounts.refunded, 'refunded'],
    [amounts.marketRefunded, 'refunded, at market'],
    ...(Number(amounts.refunded) === 0 ? [] : [[amounts.net, 'net of refunds'] as const]),
    [amounts.price, `price of ${showCount(count)} paid ${invoices(count)}`],
    [amounts.short, 'short of the price'],
    [amounts.excess, 'received above the price'],
  ] as const
  return lines.map(([amount, words]) =>
    Number(amount) === 0 && words !== 'received' ? null : (
      <li key={words}>
        {showDecimal(amount)} {currency} <span className="pm-dim">{words}</span>
      </li>
    ),
  )
}

const invoices = (count: number) => (count === 1 ? 'invoice' : 'invoices')

function missingWords({ missing }: Volume['reported'], currency: string): ReactNode {
  const left = missing.find((one) => one.currency === currency)?.count ?? 0
  return left === 0 ? null : <li className="pm-dim">{showCount(left)} without a rate</li>
}
