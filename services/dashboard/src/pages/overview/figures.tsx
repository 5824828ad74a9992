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
  readonly days: number
  readonly volume: CardQuery<Volume>
  readonly funnel: CardQuery<Funnel>
  readonly webhooks: CardQuery<Webhooks>
}) {
  return (
    <div className="pm-figures">
      <PaidVolume query={props.volume} days={props.days} />
      <Conversion query={props.funnel} />
      <MedianTime query={props.funnel} />
      <Delivered query={props.webhooks} />
    </div>
  )
}

const HEIGHT = 96

function PaidVolume({ query, days }: { readonly query: CardQuery<Volume>; readonly days: number }) {
  const { data } = query
  if (data === undefined) return <CardState title="Paid volume" what="the volume" query={query} height={HEIGHT} />
  const { reported, currencies } = data
  const before = Number(reported.before)
  const change = before === 0 || reported.missingBefore > 0 ? null : Number(reported.amount) / before - 1
  return (
    <Figure
      title="Paid volume"
      value={showDecimal(reported.amount)}
      unit={reported.currency}
      trend={reported.totals.map(Number)}
    >
      {change === null ? null : (
        <Change better={change >= 0} up={change >= 0}>
          {showShare(Math.abs(change))}
        </Change>
      )}{' '}
      {beforeWords(data, days)}
      {currencies.some(({ currency, count }) => currency !== reported.currency && count > 0) ? (
        <VolumeCurrencies volume={data} />
      ) : null}
    </Figure>
  )
}

function beforeWords({ reported }: Volume, days: number): string {
  if (reported.missingBefore > 0) return `the previous ${days} days have invoices without a rate`
  return Number(reported.before) === 0 ? `none in the previous ${days} days` : `vs previous ${days} days`
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

/** What the total is made of: each currency's exact amount, what is left out, and how the rest was converted. */
function VolumeCurrencies({ volume }: { readonly volume: Volume }) {
  const to = useTo()
  const { reported } = volume
  const currencies = volume.currencies.filter(({ count }) => count > 0)
  const left = reported.missing.reduce((sum, { count }) => sum + count, 0)
  return (
    <details className="pm-currencies">
      <summary>
        {currencies.length} currencies{left === 0 ? '' : `, ${showCount(left)} ${invoices(left)} not included`}
      </summary>
      <ul>
        {currencies.map(({ currency, amount, count }) => (
          <li key={currency}>
            {showDecimal(amount)} {currency}{' '}
            <span className="pm-dim">
              {showCount(count)} {invoices(count)}
              {missingWords(reported, currency)}
            </span>
          </li>
        ))}
      </ul>
      <p>
        Converted to {reported.currency} at the exchange rate of the moment each invoice was created; the rate is stored
        with the invoice. Invoices without a stored rate are not included.{' '}
        <Link to={to('settings/pricing')}>Change</Link>
      </p>
    </details>
  )
}

const invoices = (count: number) => (count === 1 ? 'invoice' : 'invoices')

function missingWords({ missing }: Volume['reported'], currency: string): string {
  const left = missing.find((one) => one.currency === currency)?.count ?? 0
  return left === 0 ? '' : `, ${showCount(left)} without a rate`
}
