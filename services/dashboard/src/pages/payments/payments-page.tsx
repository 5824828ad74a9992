import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { trpc } from '../../api/trpc.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import { type ChoiceFilter, chipOf } from '../../parts/table/filter-chip.ts'
import { Choices, ListFilters, SearchField } from '../../parts/table/list-filters.tsx'
import { useListOrder } from '../../parts/table/list-order.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { useNow } from '../../parts/use-now.ts'
import { useScope, useTo } from '../../session/scope.ts'
import { useZone } from '../../session/use-zone.ts'
import { CsvButton } from '../money/csv-button.tsx'
import { paymentColumns } from '../money/payment-columns.tsx'
import { PERIOD_FILTERS, readPeriod, readTime, timeLabel } from '../money/period.ts'
import { periodChip } from '../money/period-chip.ts'
import { PeriodFilter, TimeFilter } from '../money/period-filter.tsx'

const FILTERS = { q: '', network: 'any', counted: 'any', by: 'created', ...PERIOD_FILTERS }
const COUNTED = [
  { value: 'any', label: 'All payments' },
  { value: 'yes', label: 'Applied to an invoice' },
  { value: 'no', label: 'Not applied' },
]
const NETWORK_OPTIONS = [
  { value: 'any', label: 'Any network' },
  ...NETWORK_IDS.map((id) => ({ value: id, label: NETWORKS[id].name })),
]
const CHOICES: readonly ChoiceFilter<keyof typeof FILTERS>[] = [
  { name: 'network', label: 'Network', options: NETWORK_OPTIONS },
  { name: 'counted', label: 'Applied', options: COUNTED },
]

/** Payments, and whether they counted. */
export function PaymentsPage() {
  const scope = useScope()
  const to = useTo()
  const { filters, set, clear, filtered } = useUrlFilters(FILTERS)
  const pages = useCursorPages()
  const { problem, ...detected } = readPeriod(filters, useNow(60_000), useZone())
  const by = readTime(filters.by)
  const network: NetworkId | null = NETWORK_IDS.find((id) => id === filters.network) ?? null
  const counted = filters.counted === 'any' ? null : filters.counted === 'yes'
  const filter = { q: filters.q, network, counted, by, ...detected }
  const list = useQuery(
    trpc.payments.list.queryOptions(
      { ...scope, ...filter, order: useListOrder(), cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const columns = paymentColumns(to)
  const chips = [
    ...chipOf(filters, FILTERS, 'q', 'Search'),
    ...periodChip(timeLabel(by), filters),
    ...CHOICES.flatMap(({ name, label, options }) => chipOf(filters, FILTERS, name, label, options)),
  ]
  return (
    <Page title="Payments" actions={<CsvButton what="payments" filters={filter} />}>
      <ListFilters
        chips={chips}
        remove={set}
        search={
          <SearchField
            label="Transaction, amount, invoice, order, customer, email or address"
            placeholder="Transaction, amount, invoice, order…"
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
        what="payments"
        columns={columns}
        query={list}
        rows={list.data?.items}
        idOf={({ id }) => id}
        pages={pages}
        nextCursor={list.data?.nextCursor}
        foot="The CSV has the value of each payment at the price’s rate and at market, with rates, times and sources."
        clear={filtered ? clear : null}
        empty={
          <EmptyState title="No payments yet." text="Create a test invoice, open it and simulate a payment.">
            <Button component={Link} to={to('invoices/new')} variant="default">
              New invoice
            </Button>
          </EmptyState>
        }
      />
    </Page>
  )
}
