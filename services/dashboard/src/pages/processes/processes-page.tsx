import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type api, trpc } from '../../api/trpc.ts'
import { showDuration } from '../../format/time.ts'
import { Card, Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Time } from '../../parts/time.tsx'
import { POLL_EVERY_MS, Refreshed, SystemPage } from '../system/system-page.tsx'

type Answer = Awaited<ReturnType<typeof api.system.processes.query>>
type Process = Answer['processes'][number]

const VERDICTS = {
  running: { word: 'Running', tone: 'paid', icon: IconCheck },
  stuck: { word: 'Stuck', tone: 'danger', icon: IconAlertTriangle },
  missing: { word: 'No heartbeat', tone: 'danger', icon: IconAlertTriangle },
} as const

const COLUMNS: readonly Column<Process>[] = [
  {
    header: 'Process',
    namesItself: true,
    cell: ({ name, host, pid }) => (
      <>
        <b>{name}</b>
        <small>
          {host}, process {pid}
        </small>
      </>
    ),
  },
  {
    header: 'State',
    namesItself: true,
    cell: ({ verdict, silent }) => {
      const { word, tone, icon } = VERDICTS[verdict]
      return (
        <>
          <ToneBadge tone={tone} icon={icon}>
            {word}
          </ToneBadge>
          {silent.length === 0 ? null : <small>not responding: {silent.join(', ')}</small>}
        </>
      )
    },
  },
  { header: 'Version', wide: true, cell: ({ version, node }) => `${version}, Node ${node}` },
  { header: 'Started', align: 'right', wide: true, cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: 'Last heartbeat', align: 'right', cell: ({ seenAt }) => <Time at={seenAt} detail /> },
]

/** Running processes, lease holders, and whether Redis was replaced. */
export function ProcessesPage() {
  const answer = useQuery(trpc.system.processes.queryOptions(undefined, { refetchInterval: POLL_EVERY_MS }))
  const { data } = answer
  return (
    <SystemPage section="processes" actions={<Refreshed at={answer.dataUpdatedAt} />}>
      {data === undefined ? null : <RedisNote redis={data.redis} />}
      <DataTable
        what="processes"
        query={answer}
        rows={data?.processes}
        idOf={({ id }) => id}
        columns={COLUMNS}
        empty={<EmptyState title="No process has sent a heartbeat in the last hour." />}
        foot="Each process sends a heartbeat every 15 s. Processes that shut down cleanly are not listed."
      />
      {data === undefined || data.leases.length === 0 ? null : <Leases leases={data.leases} />}
    </SystemPage>
  )
}

function RedisNote({ redis: { awayMs, since } }: { readonly redis: Answer['redis'] }) {
  if (awayMs !== null) {
    return (
      <Note tone="partial">
        <p>
          Redis has accepted no writes for {showDuration(awayMs)}. Until it does, workers poll MongoDB and each process
          counts its own rate limit.
        </p>
      </Note>
    )
  }
  return since === null ? null : (
    <p className="pm-muted">
      Redis up since <Time at={since} />.
    </p>
  )
}

function Leases({ leases }: { readonly leases: Answer['leases'] }) {
  return (
    <Card title="Leases" flush>
      <ScrollBox label="Leases">
        <table className="pm-table pm-table-plain pm-num" aria-label="leases">
          <thead>
            <tr>
              <th scope="col">Work</th>
              <th scope="col">Owner</th>
              <th scope="col" className="pm-right pm-wide">
                Owners so far
              </th>
              <th scope="col" className="pm-right">
                Until
              </th>
            </tr>
          </thead>
          <tbody>
            {leases.map(({ id, owner, epoch, until, held }) => (
              <tr key={id}>
                <td>{id}</td>
                <td className="pm-nowrap">{held ? <CopyText text={owner} what={`owner of ${id}`} short /> : 'none'}</td>
                <td className="pm-right pm-wide">{epoch}</td>
                <td className="pm-right">{held ? <Time at={until} detail /> : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Card>
  )
}
