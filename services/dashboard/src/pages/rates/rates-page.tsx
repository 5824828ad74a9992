import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { clockText } from '#shared/contracts/rates/rate-labels.ts'
import { trpc } from '../../api/trpc.ts'
import { showRate } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Card, Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import '../webhooks/webhooks.css'
import { POLL_EVERY_MS, Refreshed, SystemPage } from '../system/system-page.tsx'
import { type Board, ConfirmJump, type Price } from './confirm-jump.tsx'
import { SourceList } from './source-list.tsx'

/** Prices of sources whose time is further off than this are not used. */
const CLOCK_OFF_MS = 5_000

/** Rates with their sources, what became of each source's pairs, and jumps that wait for a confirmation. */
export function RatesPage() {
  const board = useQuery(trpc.rates.board.queryOptions(undefined, { refetchInterval: POLL_EVERY_MS }))
  const { data } = board
  return (
    <SystemPage section="rates" actions={<Refreshed at={board.dataUpdatedAt} />}>
      {data === undefined ? null : <Verdict board={data} />}
      <div className="pm-boards">
        <div className="pm-stack">
          <DataTable
            what="coins"
            query={board}
            rows={data?.coins}
            idOf={({ name }) => name}
            columns={columns('Coin', 'USD')}
            empty={<EmptyState title="No rates yet." />}
            foot={
              data === undefined
                ? undefined
                : `Rates older than ${showDuration(data.maxAgeMs)} or with too few sources are not used.`
            }
          />
          <Card title="Sources" flush>
            <QueryView query={board} what="the sources">
              {({ sources }) => <SourceList sources={sources} />}
            </QueryView>
          </Card>
        </div>
        <DataTable
          what="currencies"
          query={board}
          rows={data?.fiats}
          idOf={({ name }) => name}
          columns={columns('Currency', 'Per USD')}
          empty={<EmptyState title="No rates yet." />}
        />
      </div>
    </SystemPage>
  )
}

function Verdict({ board }: { readonly board: Board }) {
  const { at, ageMs, clockOffsetMs, coins, fiats } = board
  if (at === null || ageMs === null) {
    return (
      <Note tone="danger">
        <p>No rates have been published yet. You can create invoices without a coin; choosing a coin fails with 503.</p>
      </Note>
    )
  }
  const waiting = [...coins, ...fiats].filter((price) => price.waiting !== null)
  return (
    <>
      {clockOffsetMs === null || Math.abs(clockOffsetMs) <= CLOCK_OFF_MS ? null : (
        <Note tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
          <p>Prices are not used because {clockText(clockOffsetMs)}.</p>
        </Note>
      )}
      <Paused board={board} />
      {waiting.map((price) => (
        <ConfirmJump key={price.name} price={price} />
      ))}
    </>
  )
}

function Paused({ board: { ageMs, maxAgeMs, coins } }: { readonly board: Board }) {
  const refused = coins.filter((coin) => coin.refused && coin.waiting === null)
  if (refused.length === 0 && ageMs !== null && ageMs < maxAgeMs) return null
  const names = refused.map(({ name, offPeg }) => (offPeg ? `${name} (off its peg)` : name)).join(', ')
  return (
    <Note tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
      <p>
        {refused.length === coins.length ? 'Pricing is paused' : `Pricing is paused for ${names}`}: too few sources
        agree, rates are stale or a stablecoin is off its peg. It resumes automatically.
      </p>
    </Note>
  )
}

function columns(first: string, unit: string): readonly Column<Price>[] {
  return [
    { header: first, namesItself: true, cell: ({ name }) => <b>{name}</b> },
    {
      header: unit,
      align: 'right',
      cell: ({ price, refused, waiting, offPeg }) =>
        price === null ? (
          <ToneBadge tone="danger" icon={IconAlertTriangle}>
            {waiting !== null ? 'Jump' : offPeg ? 'Off peg' : 'None'}
          </ToneBadge>
        ) : (
          <span className={refused ? 'pm-bad' : undefined}>{showRate(price)}</span>
        ),
    },
    {
      header: 'Sources',
      align: 'right',
      cell: ({ sources, outliers, expected, sourcesMin }) => (
        <>
          <b className={sources.length < expected && sources.length <= sourcesMin + 1 ? 'pm-warn' : undefined}>
            {sources.length} of {expected}
          </b>
          <small>{outliers.length === 0 ? null : `excluded: ${outliers.join(', ')}`}</small>
        </>
      ),
    },
    {
      header: 'Oldest',
      align: 'right',
      wide: true,
      cell: ({ ageMs }) => <span className="pm-nowrap">{ageMs === null ? '–' : showDuration(Math.max(0, ageMs))}</span>,
    },
  ]
}
