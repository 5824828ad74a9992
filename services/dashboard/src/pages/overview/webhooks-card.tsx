import { Link } from 'react-router'
import { showCount, showShare } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Span } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useTo } from '../../session/scope.ts'
import type { CardQuery, Webhooks } from './answers.ts'
import { CardState } from './card-state.tsx'

const TITLE = 'Webhook health, last 24 h'

/** The health of each endpoint today. */
export function WebhooksCard({ query }: { readonly query: CardQuery<Webhooks> }) {
  const to = useTo()
  const { data } = query
  if (data === undefined) return <CardState title={TITLE} what="webhook health" query={query} height={180} />
  return (
    <Card title={TITLE} beside={<Link to={to('webhooks/deliveries')}>Deliveries</Link>} flush>
      {data.endpoints.length === 0 ? (
        <EmptyState title="Add a webhook endpoint to be notified of payments.">
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
                  First attempt, 99 %
                </th>
                <th scope="col" className="pm-right pm-wide">
                  Oldest overdue
                </th>
              </tr>
            </thead>
            <tbody>
              {data.endpoints.map((row) => (
                <tr key={row.id}>
                  <td>
                    <Link to={to('webhooks/endpoints', row.id)}>
                      <UntrustedText>{row.host}</UntrustedText>
                    </Link>
                  </td>
                  <td>
                    <StatusBadge of="endpoint" status={row.state} />
                  </td>
                  <td className="pm-right">{showCount(row.made)}</td>
                  <td className="pm-right">
                    {row.tried === 0 ? '–' : showShare(row.succeeded / row.tried, 2)}
                    {row.tried === 0 ? null : <small>{showShare(row.firstTry / row.tried)} on the first attempt</small>}
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
