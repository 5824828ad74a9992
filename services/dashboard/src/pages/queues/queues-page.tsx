import { useQuery } from '@tanstack/react-query'
import { type api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import '../webhooks/webhooks.css'
import { POLL_EVERY_MS, Refreshed, SystemPage } from '../system/system-page.tsx'

/** A sweep takes a second: work due for longer is late. */
const LATE_MS = 10_000

type Row = Awaited<ReturnType<typeof api.queues.list.query>>['items'][number]

const WORDS: Readonly<Record<Row['work'], string>> = {
  'invoice-transitions': 'Invoice deadlines',
  payments: 'Payments to apply',
  outbox: 'Events to create',
  webhooks: 'Deliveries to send',
  'webhooks-slow': 'Deliveries to slow endpoints',
  scan: 'Scanner wake-ups',
  mail: 'Emails',
  recoveries: 'Running recoveries',
  'audit-chain': 'Audit entries to chain',
}

/** Waiting work, and how long it has waited. */
export function QueuesPage() {
  const list = useQuery(trpc.queues.list.queryOptions(undefined, { refetchInterval: POLL_EVERY_MS }))
  const countMax = list.data?.countMax ?? 0
  const awayMs = list.data?.redisAwayMs ?? null
  return (
    <SystemPage section="queues" actions={<Refreshed at={list.dataUpdatedAt} />}>
      {awayMs === null ? null : (
        <Note tone="partial">
          <p>
            Redis has accepted no writes for {showDuration(awayMs)}. Nothing is lost: all work is stored in MongoDB, and
            workers poll for it every second or two.
          </p>
        </Note>
      )}
      <DataTable
        what="queues"
        query={list}
        rows={list.data?.items}
        idOf={({ work }) => work}
        columns={columns(countMax)}
        empty={<EmptyState title="No queues." />}
        foot="Watch the oldest item, not the depth. The work itself is stored in MongoDB; Redis jobs are only wake-ups."
      />
    </SystemPage>
  )
}

function columns(countMax: number): readonly Column<Row>[] {
  return [
    {
      header: 'Queue',
      namesItself: true,
      cell: ({ work }) => (
        <>
          <span className="pm-mono">{work}</span>
          <small>{WORDS[work]}</small>
        </>
      ),
    },
    {
      header: 'Queued',
      align: 'right',
      cell: ({ due }) => (due === null ? '–' : `${showCount(due)}${due === countMax ? ' or more' : ''}`),
    },
    {
      header: 'Oldest overdue',
      align: 'right',
      cell: ({ oldestDueMs }) =>
        oldestDueMs === null ? (
          '0 s'
        ) : (
          <b className={oldestDueMs > LATE_MS ? 'pm-warn' : undefined}>
            {showDuration(Math.max(0, oldestDueMs))}
            {oldestDueMs > LATE_MS ? ', late' : ''}
          </b>
        ),
    },
    {
      header: 'Jobs waiting',
      align: 'right',
      wide: true,
      cell: ({ jobs }) => (jobs === null ? '–' : showCount(jobs.waiting + jobs.delayed)),
    },
    {
      header: 'Active',
      align: 'right',
      wide: true,
      cell: ({ jobs }) => (jobs === null ? '–' : showCount(jobs.active)),
    },
    {
      header: 'Failed',
      align: 'right',
      wide: true,
      cell: ({ jobs }) => (jobs === null ? '–' : showCount(jobs.failed)),
    },
  ]
}
