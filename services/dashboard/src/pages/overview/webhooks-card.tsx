import { Link } from 'react-router'
import { showCount, showShare } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { CardTable } from '../../parts/table/card-table.tsx'
import type { Column } from '../../parts/table/column.ts'
import { Since } from '../../parts/time.tsx'
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
        <CardTable label={TITLE} columns={columns(to)} rows={data.endpoints} keyOf={({ id }) => id} />
      )}
    </Card>
  )
}

const columns = (to: ReturnType<typeof useTo>): readonly Column<Webhooks['endpoints'][number]>[] => [
  {
    header: 'Endpoint',
    namesItself: true,
    cell: ({ id, host }) => (
      <Link to={to('webhooks/endpoints', id)}>
        <UntrustedText>{host}</UntrustedText>
      </Link>
    ),
  },
  { header: 'State', namesItself: true, cell: ({ state }) => <StatusBadge of="endpoint" status={state} /> },
  { header: 'Sent', align: 'right', cell: ({ made }) => showCount(made) },
  {
    header: 'Delivered',
    align: 'right',
    cell: ({ tried, succeeded, firstTry }) =>
      tried === 0 ? (
        '–'
      ) : (
        <>
          {showShare(succeeded / tried, 2)}
          <small>{showShare(firstTry / tried)} on the first attempt</small>
        </>
      ),
  },
  {
    header: 'Waiting',
    align: 'right',
    cell: ({ waiting, retrying }) => (
      <>
        {showCount(waiting)}
        {retrying === 0 ? null : <small>{showCount(retrying)} retrying</small>}
      </>
    ),
  },
  {
    header: 'First attempt, 99 %',
    align: 'right',
    wide: true,
    cell: ({ firstAttemptP99Ms }) => (firstAttemptP99Ms === null ? '–' : showDuration(firstAttemptP99Ms)),
  },
  {
    header: 'Oldest overdue',
    align: 'right',
    wide: true,
    cell: ({ oldestDueAt }) => (oldestDueAt === null ? 'none' : <Since at={oldestDueAt} />),
  },
]
