import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type api, trpc } from '../../api/trpc.ts'
import { showDecimal } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Card, Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import '../webhooks/webhooks.css'
import { POLL_EVERY_MS, Refreshed } from '../system/refreshed.tsx'
import { systemTabs } from '../system/tabs.ts'

type Board = Awaited<ReturnType<typeof api.rates.board.query>>
type Price = Board['coins'][number]

/** Rates with the number and age of their sources, and the sources left out. */
export function RatesPage() {
  const board = useQuery(trpc.rates.board.queryOptions(undefined, { refetchInterval: POLL_EVERY_MS }))
  const { data } = board
  return (
    <Page
      title="System"
      documentTitle="Rates"
      tabs={systemTabs('rates')}
      actions={<Refreshed at={board.dataUpdatedAt} />}
    >
      <div className="pm-stack">
        {data === undefined ? null : <Verdict board={data} />}
        <div className="pm-boards">
          <div className="pm-stack">
            <DataTable
              what="coins"
              query={board}
              rows={data?.coins}
              idOf={({ name }) => name}
              columns={columns('Coin', 'USD', data?.sourcesMin ?? 0)}
              empty={<EmptyState title="No rates yet." />}
              foot={
                data === undefined
                  ? undefined
                  : `Rates older than ${showDuration(data.maxAgeMs)} or with fewer than ${data.sourcesMin} sources are not used.`
              }
            />
            <Card title="Sources" flush>
              <SourceList sources={data?.sources ?? []} />
            </Card>
          </div>
          <DataTable
            what="currencies"
            query={board}
            rows={data?.fiats}
            idOf={({ name }) => name}
            columns={columns('Currency', 'Per USD', 0)}
            empty={<EmptyState title="No rates yet." />}
          />
        </div>
      </div>
    </Page>
  )
}

function Verdict({ board: { at, ageMs, maxAgeMs, coins } }: { readonly board: Board }) {
  const refused = coins.filter((coin) => coin.refused).map(({ name }) => name)
  if (at === null || ageMs === null) {
    return (
      <Note tone="danger">
        <p>No rates have been published yet. You can create invoices without a coin; choosing a coin fails with 503.</p>
      </Note>
    )
  }
  if (refused.length === 0 && ageMs < maxAgeMs) return null
  return (
    <Note tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
      <p>
        {refused.length === coins.length ? 'Pricing is paused' : `Pricing is paused for ${refused.join(', ')}`}: too few
        sources agree or rates are stale. It resumes automatically.
      </p>
    </Note>
  )
}

function columns(first: string, unit: string, sourcesMin: number): readonly Column<Price>[] {
  return [
    { header: first, namesItself: true, cell: ({ name }) => <b>{name}</b> },
    {
      header: unit,
      align: 'right',
      cell: ({ price, refused }) =>
        price === null ? (
          <ToneBadge tone="danger" icon={IconAlertTriangle}>
            None
          </ToneBadge>
        ) : (
          <span className={refused ? 'pm-bad' : undefined}>{showDecimal(shortened(price))}</span>
        ),
    },
    {
      header: 'Sources',
      align: 'right',
      cell: ({ sources, outliers }) => (
        <>
          <b className={sources.length <= sourcesMin && sourcesMin > 0 ? 'pm-warn' : undefined}>
            {sources.length} of {sources.length + outliers.length}
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

/** Prices have many digits; eight significant ones are enough to compare by eye. */
function shortened(price: string): string {
  const digits = price.replace('.', '').replace(/^0+/, '').length
  return digits <= 8 || !price.includes('.')
    ? price
    : price.slice(0, Math.max(price.indexOf('.') + 3, price.length - (digits - 8)))
}

function SourceList({ sources }: { readonly sources: Board['sources'] }) {
  if (sources.length === 0) return <EmptyState title="No source has responded yet." />
  return (
    <ScrollBox label="Sources">
      <table className="pm-table pm-table-plain pm-num" aria-label="sources">
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">State</th>
            <th scope="col" className="pm-right">
              Last update{' '}
            </th>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ name, up, ageMs, outlierOf }) => (
            <tr key={name}>
              <td>
                {name}
                <small>{outlierOf.length === 0 ? null : `outlier for ${outlierOf.join(', ')}`}</small>
              </td>
              <td>
                <ToneBadge tone={up ? 'paid' : 'danger'}>{up ? 'OK' : 'No response'}</ToneBadge>
              </td>
              <td className="pm-right">{showDuration(Math.max(0, ageMs))} ago</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}
