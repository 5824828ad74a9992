import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import {
  ASSET_IDS,
  type AssetId,
  INVOICE_STATUSES,
  type InvoiceStatus,
  networkOf,
} from '#shared/domain/enumerations.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page, type PageTab } from '../../parts/page.tsx'
import { VOCABULARY } from '../../parts/status-vocabulary.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { type ChoiceFilter, chipOf } from '../../parts/table/filter-chip.ts'
import { Choices, ListFilters, SearchField } from '../../parts/table/list-filters.tsx'
import { useListOrder } from '../../parts/table/list-order.ts'
import { CURSOR_PARAM } from '../../parts/table/url-filters.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { useNow } from '../../parts/use-now.ts'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { useZone } from '../../session/use-zone.ts'
import { CsvButton } from '../money/csv-button.tsx'
import { invoiceColumns, SOURCES } from '../money/invoice-columns.tsx'
import { PERIOD_FILTERS, readPeriod, readTime, timeLabel } from '../money/period.ts'
import { periodChip } from '../money/period-chip.ts'
import { PeriodFilter, TimeFilter } from '../money/period-filter.tsx'

const FILTERS = { status: 'all', q: '', by: 'created', ...PERIOD_FILTERS, asset: 'any', source: 'any', flag: 'any' }
const SOURCE_CHOICES = [
  { value: 'any', label: 'Any source' },
  ...Object.entries(SOURCES).map(([value, label]) => ({ value, label })),
]
const FLAG_CHOICES = [
  { value: 'any', label: 'Any flag' },
  { value: 'late', label: 'Late' },
  { value: 'short', label: 'Underpayment accepted' },
]
const COINS = [{ value: 'any', label: 'Any coin' }, ...ASSET_IDS.map((id) => ({ value: id, label: coinLabel(id) }))]
const CHOICES: readonly ChoiceFilter<keyof typeof FILTERS>[] = [
  { name: 'asset', label: 'Coin', options: COINS },
  { name: 'source', label: 'Source', options: SOURCE_CHOICES },
  { name: 'flag', label: 'Flag', options: FLAG_CHOICES },
]
const COUNTS_MS = 10_000

function coinLabel(id: AssetId): string {
  return `${id.split('_')[0]?.toUpperCase()} on ${NETWORKS[networkOf(id)].name}`
}

/** The value if it is one of these, otherwise null. */
function oneOf<T extends string>(values: readonly T[], value: string | undefined): T | null {
  return values.find((known) => known === value) ?? null
}

/** The list of invoices, each with its next step. */
export function InvoicesPage() {
  const scope = useScope()
  const to = useTo()
  const may = useMay('support', 'active')
  const { filters, set, clear, filtered } = useUrlFilters(FILTERS)
  const pages = useCursorPages()
  const columns = invoiceColumns(to)
  const { problem, ...created } = readPeriod(filters, useNow(60_000), useZone())
  const by = readTime(filters.by)
  const search = {
    ...created,
    by,
    status: oneOf(INVOICE_STATUSES, filters.status),
    q: filters.q,
    asset: oneOf(ASSET_IDS, filters.asset),
    source: oneOf(['api', 'link', 'manual', 'billing'] as const, filters.source),
    flag: oneOf(['late', 'short'] as const, filters.flag),
  }
  const list = useQuery(
    trpc.invoices.list.queryOptions(
      { ...scope, ...search, order: useListOrder(), cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  // Counts cover a period; with a narrower list they would count rows that it does not show.
  const isNarrowed = filters.q !== '' || by !== 'created' || CHOICES.some(({ name }) => filters[name] !== 'any')
  const tabs = useStatusTabs(created, !isNarrowed)
  const chips = [
    ...chipOf(filters, FILTERS, 'q', 'Search'),
    ...periodChip(timeLabel(by), filters),
    ...CHOICES.flatMap(({ name, label, options }) => chipOf(filters, FILTERS, name, label, options)),
  ]
  const create = (
    <Button component={Link} to={to('invoices/new')} leftSection={<IconPlus size={16} aria-hidden />}>
      New invoice
    </Button>
  )
  return (
    <Page
      title="Invoices"
      tabs={tabs}
      actions={
        <>
          <CsvButton what="invoices" filters={search} />
          {may ? create : null}
        </>
      }
    >
      <ListFilters
        chips={chips}
        remove={set}
        search={
          <SearchField
            label="Number, order, customer, email, amount, address or transaction"
            placeholder="Number, order, customer, amount, address…"
            value={filters.q}
            onSearch={(q) => set({ q })}
          />
        }
      >
        <TimeFilter by={by} onChange={(time) => set({ by: time })} />
        <PeriodFilter label={timeLabel(by)} filters={filters} problem={problem} onChange={set} />
        <Choices of={CHOICES} filters={filters} set={set} />
      </ListFilters>
      <DataTable
        what="invoices"
        columns={columns}
        query={list}
        rows={list.data?.items}
        idOf={({ id }) => id}
        to={({ id }) => to('invoices', id)}
        pages={pages}
        nextCursor={list.data?.nextCursor}
        clear={filtered ? clear : null}
        empty={<EmptyState title="No invoices yet">{may ? create : null}</EmptyState>}
      />
    </Page>
  )
}

/** Tabs are links, so that a status has a URL; counts load separately and never delay the list. */
function useStatusTabs(
  created: { readonly from: number | null; readonly to: number | null },
  withCounts: boolean,
): readonly PageTab[] {
  const scope = useScope()
  const to = useTo()
  const [params] = useSearchParams()
  const counts = useQuery(
    trpc.invoices.counts.queryOptions(
      { ...scope, ...created },
      { refetchInterval: COUNTS_MS, placeholderData: keepPreviousData },
    ),
  )
  const current = oneOf(INVOICE_STATUSES, params.get('status') ?? undefined) ?? 'all'
  const hrefOf = (status: string) => {
    const next = new URLSearchParams(params)
    next.delete(CURSOR_PARAM)
    if (status === 'all') next.delete('status')
    else next.set('status', status)
    const query = next.toString()
    return `${to('invoices')}${query === '' ? '' : `?${query}`}`
  }
  const word = (count: number, max: number) => (count >= max ? `${showCount(max)}+` : showCount(count))
  const data = withCounts ? counts.data : undefined
  const known = INVOICE_STATUSES.map((status: InvoiceStatus) => data?.byStatus[status] ?? 0)
  const all = known.reduce((sum, count) => sum + count, 0)
  return [
    {
      label: 'All',
      to: hrefOf('all'),
      current: current === 'all',
      count: data === undefined ? undefined : word(all, data.max * known.length),
    },
    ...INVOICE_STATUSES.map((status, index) => ({
      label: VOCABULARY.invoice[status].word,
      to: hrefOf(status),
      current: current === status,
      count: data === undefined ? undefined : word(known[index] ?? 0, data.max),
    })),
  ]
}
