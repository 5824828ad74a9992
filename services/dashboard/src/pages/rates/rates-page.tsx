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
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import '../webhooks/webhooks.css'
import { LOOK_EVERY_MS, Refreshed } from '../system/refreshed.tsx'
import { systemTabs } from '../system/tabs.ts'

type Board = Awaited<ReturnType<typeof api.rates.board.query>>
type Price = Board['coins'][number]

/** What prices are made of: how many sources, how old, who was left out. */
export function RatesPage() {
  const board = useQuery(trpc.rates.board.queryOptions(undefined, { refetchInterval: LOOK_EVERY_MS }))
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
        <div className="pm-grid">
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
                : `Refused after ${showDuration(data.maxAgeMs)} or below ${data.sourcesMin} sources.`
            }
          />
          <DataTable
            what="currencies"
            query={board}
            rows={data?.fiats}
            idOf={({ name }) => name}
            columns={columns('Currency', 'Per USD', 0)}
            empty={<EmptyState title="No rates yet." />}
          />
          <Card title="Sources" flush>
            <SourceList sources={data?.sources ?? []} />
          </Card>
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
        <p>No rates were published yet. Invoices without an asset can be created; locking an asset answers 503.</p>
      </Note>
    )
  }
  if (refused.length === 0 && ageMs < maxAgeMs) return null
  return (
    <Note tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
      <p>
        {refused.length === coins.length ? 'Nothing can be priced' : `${refused.join(', ')} cannot be priced`} now: too
        few sources agree, or the prices are too old. Nothing is priced with a stale rate; it resumes by itself when
        sources answer.
      </p>
    </Note>
  )
}

function columns(first: string, unit: string, sourcesMin: number): readonly Column<Price>[] {
  return [
    { header: first, cell: ({ name }) => <b>{name}</b> },
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
          <small>{outliers.length === 0 ? null : `left out: ${outliers.join(', ')}`}</small>
        </>
      ),
    },
    {
      header: 'Oldest',
      align: 'right',
      wide: true,
      cell: ({ ageMs }) => (ageMs === null ? '–' : showDuration(Math.max(0, ageMs))),
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
  if (sources.length === 0) return <EmptyState title="No source was heard yet." />
  return (
    <ScrollBox label="Sources">
      <table className="pm-table pm-table-plain pm-num" aria-label="sources">
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">State</th>
            <th scope="col" className="pm-right">
              Heard
            </th>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ name, up, ageMs, outlierOf }) => (
            <tr key={name}>
              <td>
                {name}
                <small>{outlierOf.length === 0 ? null : `outlier of ${outlierOf.join(', ')}`}</small>
              </td>
              <td>
                <ToneBadge tone={up ? 'paid' : 'danger'}>{up ? 'Answers' : 'Silent'}</ToneBadge>
              </td>
              <td className="pm-right">{showDuration(Math.max(0, ageMs))} ago</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}
