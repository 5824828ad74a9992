import { useQuery } from '@tanstack/react-query'
import { type api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import '../webhooks/webhooks.css'
import { LOOK_EVERY_MS, Refreshed } from '../system/refreshed.tsx'
import { systemTabs } from '../system/tabs.ts'

/** A sweep takes a second: what is due for longer waits for somebody. */
const LATE_MS = 10_000

type Row = Awaited<ReturnType<typeof api.queues.list.query>>['items'][number]

const WORDS: Readonly<Record<Row['work'], string>> = {
  'invoice-transitions': 'Deadlines of invoices',
  payments: 'Payments to be counted',
  outbox: 'Events to be made',
  webhooks: 'Deliveries to be sent',
  'webhooks-slow': 'Deliveries to slow endpoints',
  scan: 'Wake-ups of scanners',
  rates: 'Rate cycles',
  mail: 'Mails to be sent',
  recoveries: 'Recoveries under way',
  'audit-chain': 'Audit rows to be chained',
}

/** What waits to be done, and for how long already. */
export function QueuesPage() {
  const list = useQuery(trpc.queues.list.queryOptions(undefined, { refetchInterval: LOOK_EVERY_MS }))
  const countMax = list.data?.countMax ?? 0
  const awayMs = list.data?.redisAwayMs ?? null
  return (
    <Page
      title="System"
      documentTitle="Queues"
      tabs={systemTabs('queues')}
      actions={<Refreshed at={list.dataUpdatedAt} />}
    >
      <div className="pm-stack">
        {awayMs === null ? null : (
          <Note tone="partial">
            <p>
              Redis has taken no writes for {showDuration(awayMs)}. Nothing is lost: all work stands in MongoDB, and the
              sweeps find it within a second or two.
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
          foot="Oldest due decides, not depth. What is due stands in MongoDB; jobs in Redis only wake somebody up."
        />
      </div>
    </Page>
  )
}

function columns(countMax: number): readonly Column<Row>[] {
  return [
    {
      header: 'Queue',
      cell: ({ work }) => (
        <>
          <span className="pm-mono">{work}</span>
          <small>{WORDS[work]}</small>
        </>
      ),
    },
    {
      header: 'Due',
      align: 'right',
      cell: ({ due }) => (due === null ? '–' : `${showCount(due)}${due === countMax ? ' or more' : ''}`),
    },
    {
      header: 'Oldest due',
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
