import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { UsageUnit } from '#shared/domain/nodes/providers.ts'
import { type api, trpc } from '../../api/trpc.ts'
import { showCount, showShare } from '../../format/amounts.ts'
import { Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Meter } from '../webhooks/meter.tsx'

type Costs = Awaited<ReturnType<typeof api.chains.costs.query>>
type Quota = Costs['quotas'][number]
type Row = Costs['providers'][number] & { readonly quota: Quota | undefined }

/** The figures are stored every five seconds and matter by the hour. */
const POLL_EVERY_MS = 60_000

const useCosts = () => useQuery(trpc.chains.costs.queryOptions(undefined, { refetchInterval: POLL_EVERY_MS }))

const UNITS: Readonly<Record<UsageUnit, string>> = {
  alchemy: 'compute units',
  quicknode: 'credits',
  infura: 'credits',
  calls: 'calls',
}

/** Networks of which four fifths of the quota or more are used. */
export function QuotaNotes() {
  const costs = useCosts()
  return (costs.data?.quotas ?? []).flatMap(({ mode, network, level, sentence }) => {
    if (sentence === null) return []
    return [
      <Note
        key={`${mode}:${network}`}
        tone={level === 'critical' ? 'danger' : 'partial'}
        icon={<IconAlertTriangle size={18} aria-hidden />}
      >
        <p>
          <b>
            {NETWORKS[network].name}
            {mode === 'test' ? ' in test mode' : ''}:
          </b>{' '}
          {sentence}
        </p>
      </Note>,
    ]
  })
}

/** What is asked of each provider of nodes, today and this month, and how much of a quota that uses. */
export function NodeCosts() {
  const costs = useCosts()
  const rows = costs.data?.providers.map((row): Row => {
    const quota = costs.data.quotas.find(({ mode, network }) => mode === row.mode && network === row.network)
    return { ...row, quota: row.inQuota ? quota : undefined }
  })
  return (
    <section className="pm-stack" aria-label="Cost of nodes">
      <h2>Cost of nodes</h2>
      <p className="pm-muted">
        Calls to each provider; units are estimated from its price list. Days and months are UTC. Set a quota per
        network in PAYMESH_NETWORKS to be warned at 80 %.
      </p>
      <DataTable
        what="providers"
        detailParam="chain"
        query={costs}
        rows={rows}
        idOf={({ mode, network, provider }) => `${mode}:${network}:${provider}`}
        columns={COLUMNS}
        empty={
          <EmptyState title="No calls counted yet." text="Figures appear within seconds of the first call to a node." />
        }
      />
    </section>
  )
}

/** The network and mode of a row. */
export const NETWORK_COLUMN: Column<Pick<Row, 'network' | 'mode'>> = {
  header: 'Network',
  namesItself: true,
  cell: ({ network, mode }) => (
    <>
      {NETWORKS[network].name}
      <small>{mode === 'test' ? 'test mode' : 'live'}</small>
    </>
  ),
}

const COLUMNS: readonly Column<Row>[] = [
  NETWORK_COLUMN,
  { header: 'Provider', cell: ({ provider }) => <span className="pm-mono">{provider}</span> },
  { header: 'Calls today', align: 'right', wide: true, cell: ({ today }) => showCount(today.calls) },
  { header: 'Calls this month', align: 'right', cell: ({ month }) => showCount(month.calls) },
  {
    header: 'Units today',
    align: 'right',
    wide: true,
    cell: ({ today }) => showCount(today.units),
  },
  {
    header: 'Units this month',
    align: 'right',
    cell: ({ month, unit }) => (
      <>
        {showCount(month.units)}
        <small>{UNITS[unit]}</small>
      </>
    ),
  },
  {
    header: 'Whole month',
    align: 'right',
    wide: true,
    cell: ({ monthEstimate }) => (monthEstimate === null ? '–' : `about ${showCount(monthEstimate)}`),
  },
  { header: 'Quota', wide: true, cell: ({ quota }) => <QuotaMeter quota={quota} /> },
]

function QuotaMeter({ quota }: { readonly quota: Quota | undefined }) {
  if (quota === undefined) return <span className="pm-dim">–</span>
  const { usedShare, perMonth, unit, level } = quota
  const words = `${showShare(usedShare)} of ${showCount(perMonth)} ${UNITS[unit]}`
  return (
    <>
      <Meter
        label={words}
        share={Math.min(1, usedShare)}
        mark={0.8}
        tone={level === 'critical' ? 'bad' : level === 'warning' ? 'warn' : 'good'}
      />
      <small>{words}</small>
    </>
  )
}
