import { Link } from 'react-router'
import { showCount, showShare } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Span } from '../../parts/time.tsx'
import { useTo } from '../../session/scope.ts'
import type { CardQuery, Webhooks } from './answers.ts'
import { CardState } from './card-state.tsx'

const TITLE = 'Webhook health, last 24 h'

/** How each endpoint did today. */
export function WebhooksCard({ query }: { readonly query: CardQuery<Webhooks> }) {
  const to = useTo()
  const { data } = query
  if (data === undefined) return <CardState title={TITLE} what="webhook health" query={query} height={180} />
  return (
    <Card title={TITLE} beside={<Link to={to('webhooks/deliveries')}>Deliveries</Link>} flush>
      {data.endpoints.length === 0 ? (
        <EmptyState title="Add an endpoint to be told about payments.">
          <Link to={to('webhooks/endpoints')}>Endpoints</Link>
        </EmptyState>
      ) : (
        <ScrollBox label={TITLE}>
          <table className="pm-table pm-num" aria-label={TITLE}>
            <thead>
              <tr>
                <th scope="col">Endpoint</th>
                <th scope="col">State</th>
                <th scope="col" className="pm-right">
                  Sent
                </th>
                <th scope="col" className="pm-right">
                  Delivered
                </th>
                <th scope="col" className="pm-right">
                  Waiting
                </th>
                <th scope="col" className="pm-right pm-wide">
                  First attempt p99
                </th>
                <th scope="col" className="pm-right pm-wide">
                  Oldest due
                </th>
              </tr>
            </thead>
            <tbody>
              {data.endpoints.map((row) => (
                <tr key={row.id}>
                  <td>
                    <Link to={to('webhooks/endpoints', row.id)}>
                      <ForeignText>{row.host}</ForeignText>
                    </Link>
                  </td>
                  <td>
                    <StatusBadge of="endpoint" status={row.state} />
                  </td>
                  <td className="pm-right">{showCount(row.made)}</td>
                  <td className="pm-right">
                    {row.tried === 0 ? '–' : showShare(row.succeeded / row.tried, 2)}
                    {row.tried === 0 ? null : <small>first attempt {showShare(row.firstTry / row.tried)}</small>}
                  </td>
                  <td className="pm-right">
                    {showCount(row.waiting)}
                    {row.retrying === 0 ? null : <small>{showCount(row.retrying)} retrying</small>}
                  </td>
                  <td className="pm-right pm-wide">
                    {row.firstAttemptP99Ms === null ? '–' : showDuration(row.firstAttemptP99Ms)}
                  </td>
                  <td className="pm-right pm-wide">
                    {row.oldestDueAt === null ? 'none' : <Span at={row.oldestDueAt} />}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </Card>
  )
}
