import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearchParams } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { Meter } from '../webhooks/meter.tsx'
import '../webhooks/webhooks.css'
import { POLL_EVERY_MS, Refreshed, SystemPage } from '../system/system-page.tsx'
import { type Chain, ChainBadge } from './chain-badge.tsx'
import { NETWORK_COLUMN, NodeCosts, QuotaNotes } from './node-costs.tsx'

/** The position and lag of each scanner. */
export function ChainsPage() {
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const list = useQuery(trpc.chains.list.queryOptions(undefined, { refetchInterval: POLL_EVERY_MS }))
  const open = params.get('chain') ?? ''
  const chosen = list.data?.items.find((chain) => idOf(chain) === open)
  const Aside = useLoaded(chosen !== undefined, async () => (await import('./chain-aside.tsx')).ChainAside)
  return (
    <SystemPage
      section="chains"
      beside={<span className="pm-muted">Are we seeing payments, and are webhooks going out?</span>}
      actions={<Refreshed at={list.dataUpdatedAt} />}
    >
      {(list.data?.items ?? []).flatMap((chain) => notesOf(chain))}
      <QuotaNotes />
      <div className={chosen === undefined ? undefined : 'pm-split'}>
        <DataTable
          what="chains"
          query={list}
          rows={list.data?.items}
          idOf={idOf}
          columns={COLUMNS}
          to={(chain) => `/system/chains?chain=${encodeURIComponent(idOf(chain))}`}
          selectedId={open}
          empty={
            <EmptyState
              title="No network is connected."
              text="Set PAYMESH_NETWORKS to connect nodes. Test mode works without one: you can simulate payments."
            />
          }
        />
        {chosen === undefined || Aside === null ? null : (
          <Aside key={idOf(chosen)} chain={chosen} onClose={() => void navigate('/system/chains')} />
        )}
      </div>
      <NodeCosts />
    </SystemPage>
  )
}

const idOf = ({ mode, network }: Pick<Chain, 'mode' | 'network'>) => `${mode}:${network}`

function notesOf(chain: Chain) {
  const { status, haltReason, waitReason, stuck, network, mode } = chain
  if (status === 'halted') {
    return [
      <Note key={idOf(chain)} tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
        <p>
          <b>
            {NETWORKS[network].name} is halted{mode === 'test' ? ' in test mode' : ''}.
          </b>{' '}
          {haltReason} No payments are lost: scanning continues from block {showCount(chain.height ?? 0)} when you
          resume it. Invoices on this network wait until then.
        </p>
      </Note>,
    ]
  }
  if (stuck !== null) {
    return [
      <Note key={idOf(chain)} tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
        <p>
          <b>
            {NETWORKS[network].name} is stuck at block {showCount(chain.height ?? 0)}
            {mode === 'test' ? ' in test mode' : ''}.
          </b>{' '}
          <UntrustedText>{stuck.sentence}</UntrustedText> Its invoices do not expire until this is fixed. {stuck.advice}
        </p>
      </Note>,
    ]
  }
  if (waitReason === null) return []
  return [
    <Note key={idOf(chain)} tone="partial">
      <p>
        <b>{NETWORKS[network].name} is waiting.</b> {waitReason}
      </p>
    </Note>,
  ]
}

const COLUMNS: readonly Column<Chain>[] = [
  NETWORK_COLUMN,
  { header: 'Mode', namesItself: true, cell: (chain) => <ChainBadge chain={chain} /> },
  {
    header: 'Scanned block',
    align: 'right',
    cell: ({ height }) => (height === null || height < 0 ? '–' : showCount(height)),
  },
  { header: 'Lag', wide: true, cell: (chain) => <Lag chain={chain} /> },
  {
    header: 'Last block',
    align: 'right',
    cell: ({ blockAgeMs }) => (blockAgeMs === null ? '–' : showDuration(Math.max(0, blockAgeMs))),
  },
  {
    header: 'Scanner',
    wide: true,
    cell: ({ lease }) => (lease === null ? 'none' : lease.expired ? 'none, lease expired' : lease.owner.slice(0, 8)),
  },
]

function Lag({
  chain: { lagBlocks, blockAgeMs, lagMarkMs, network, mode, scan, stuck, recheckThrough },
}: {
  readonly chain: Chain
}) {
  if (lagBlocks === null || blockAgeMs === null) return <span className="pm-dim">–</span>
  // A thrifty scanner leaves blocks unread that nobody needs: how old its last one is says nothing.
  if (scan?.source === 'thrifty' && stuck === null && recheckThrough === null) {
    return <span className="pm-muted">{scan.isResting ? 'resting' : 'as needed'}</span>
  }
  const unit = network === 'solana' ? 'slot' : 'block'
  const words = `${showCount(lagBlocks)} ${unit}${lagBlocks === 1 ? '' : 's'}`
  // A test chain may mine only when something happens: at its head it does not lag, however old its last block is.
  const behindMs = mode === 'test' && lagBlocks === 0 ? 0 : blockAgeMs
  const share = behindMs / lagMarkMs
  return (
    <>
      <Meter
        label={`${words}; alert above ${showDuration(lagMarkMs)}`}
        share={share / 2}
        mark={0.5}
        tone={share > 1 ? 'bad' : share > 0.5 ? 'warn' : 'good'}
      />
      <small>{words}</small>
    </>
  )
}
