import { Link } from 'react-router'
import { showCount, showShare } from '#services/dashboard/src/format/amounts.ts'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { StatusBadge } from '#services/dashboard/src/parts/status-badge.tsx'
import { useTo } from '#services/dashboard/src/session/scope.ts'
import type { CardQuery, Funnel } from './answers.ts'
import { CardState } from './card-state.tsx'

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
    ['Full amount received, or less accepted', data.fullAmountSeen],
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
