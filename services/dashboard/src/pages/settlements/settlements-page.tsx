import { Button, NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { showDay } from '../../format/time.ts'
import { bindText } from '../../parts/bind-text.ts'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { ListFilters } from '../../parts/table/list-filters.tsx'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { useNow } from '../../parts/use-now.ts'
import { useScope, useTo } from '../../session/scope.ts'
import { useZone } from '../../session/use-zone.ts'
import type { SettlementRow } from '../money/answers.ts'
import { CsvButton } from '../money/csv-button.tsx'
import { PERIOD_FILTERS, readPeriod } from '../money/period.ts'
import { periodChip } from '../money/period-chip.ts'
import { PeriodFilter } from '../money/period-filter.tsx'
import { KIND_LABELS } from '../wallets/labels.ts'
import { walletNames } from '../wallets/wallet-names.ts'

const PROFILE_CHOICES = [
  { value: 'all', label: 'All columns' },
  { value: 'koinly', label: 'Koinly' },
  { value: 'cointracking', label: 'CoinTracking' },
  { value: 'xero', label: 'Xero' },
  { value: 'quickbooks', label: 'QuickBooks' },
]

/** What each wallet received of each coin, per day, and the file of all movements. */
export function SettlementsPage() {
  const [profile, setProfile] = useState('all')
  const scope = useScope()
  const to = useTo()
  const { filters, set, clear, filtered } = useUrlFilters(PERIOD_FILTERS)
  const pages = useCursorPages()
  const zone = useZone()
  const { problem, ...span } = readPeriod(filters, useNow(60_000), zone)
  const list = useQuery(
    trpc.settlements.list.queryOptions(
      { ...scope, ...span, cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const wallets = useQuery(trpc.wallets.list.queryOptions(scope))
  const names = walletNames(wallets.data?.items ?? [])
  const columns: readonly Column<SettlementRow>[] = [
    { header: 'Day', cell: ({ day }) => <DayOf day={day} /> },
    {
      header: 'Wallet',
      cell: ({ wallet }) =>
        wallet === null ? (
          <span className="pm-dim">
            {scope.mode === 'test' ? 'Built-in test wallet' : 'Refunds, or no longer a wallet here'}
          </span>
        ) : (
          <Link to={to('wallets')}>
            {names.get(wallet.id) ?? wallet.family}, {KIND_LABELS[wallet.kind]}
          </Link>
        ),
    },
    { header: 'Network', wide: true, cell: ({ networkName }) => networkName },
    { header: 'Payments', align: 'right', wide: true, cell: ({ payments }) => showCount(payments) },
    {
      header: 'Received',
      align: 'right',
      cell: ({ received, symbol }) => <CryptoAmount amount={received} symbol={symbol} />,
    },
    {
      header: 'Applied to invoices',
      align: 'right',
      wide: true,
      cell: ({ applied, symbol }) => <CryptoAmount amount={applied} symbol={symbol} />,
    },
    {
      header: 'Above the price',
      align: 'right',
      wide: true,
      cell: ({ excess, symbol }) =>
        excess === null ? <span className="pm-dim">–</span> : <CryptoAmount amount={excess} symbol={symbol} />,
    },
    {
      header: 'Not applied',
      align: 'right',
      wide: true,
      cell: ({ notApplied, symbol }) =>
        notApplied === null ? <span className="pm-dim">–</span> : <CryptoAmount amount={notApplied} symbol={symbol} />,
    },
    {
      header: 'Refunded',
      align: 'right',
      wide: true,
      cell: ({ refunded, symbol }) =>
        refunded === null ? <span className="pm-dim">–</span> : <CryptoAmount amount={refunded} symbol={symbol} />,
    },
  ]
  return (
    <Page
      title="Settlements"
      beside={<span className="pm-muted">What each wallet received, per day and coin.</span>}
      actions={
        <>
          <NativeSelect aria-label="Format of the ledger" data={PROFILE_CHOICES} {...bindText(profile, setProfile)} />
          <CsvButton
            what="ledger"
            label="Export ledger"
            filters={{ ...span, profile: profile === 'all' ? null : profile }}
          />
          <CsvButton what="settlements" filters={span} />
        </>
      }
    >
      <ListFilters chips={periodChip('Confirmed', filters)} remove={set}>
        <PeriodFilter label="Confirmed" filters={filters} problem={problem} onChange={set} />
      </ListFilters>
      <DataTable
        what="settlements"
        columns={columns}
        query={list}
        rows={list.data?.items}
        idOf={({ day, asset, wallet }) => `${day} ${asset} ${wallet?.id ?? ''}`}
        pages={pages}
        nextCursor={list.data?.nextCursor}
        foot={`Newest day first, days of ${zone}. A payment belongs to the day on which it was confirmed; what a reorganization takes back, to the day on which that happened. Amounts are exact and include money that is applied to no invoice. A day counts in full, however the filter is set.`}
        empty={
          filtered ? (
            <EmptyState title="Nothing was confirmed in this period.">
              <Button variant="default" onClick={clear}>
                Clear filters
              </Button>
            </EmptyState>
          ) : (
            <EmptyState
              title="Nothing was confirmed yet."
              text="Each day shows what every wallet received, once a payment has its confirmations."
            />
          )
        }
      />
    </Page>
  )
}

/** A day of the report, `2026-11-19`, as other pages write days, with its year. */
function DayOf({ day }: { readonly day: string }) {
  return <time dateTime={day}>{`${showDay(Date.parse(day), 'UTC')} ${day.slice(0, 4)}`.replaceAll(' ', '\u00a0')}</time>
}
