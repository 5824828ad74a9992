import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { api } from '../../api/trpc.ts'
import { trpc } from '../../api/trpc.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { chipOf } from '../../parts/table/filter-chip.ts'
import { ListFilters, SearchField } from '../../parts/table/list-filters.tsx'
import { useListOrder } from '../../parts/table/list-order.ts'
import { CURSOR_PARAM } from '../../parts/table/url-filters.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { Time } from '../../parts/time.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import { useWebhookTabs } from '../webhooks/tabs.ts'
import '../webhooks/webhooks.css'
import { EventAside } from './event-aside.tsx'

const FILTERS = { q: '', event: '' }

type Row = Awaited<ReturnType<typeof api.deliveries.events.query>>['items'][number]

/** All events, whether or not they were delivered. */
export function EventsPage() {
  const scope = useScope()
  const to = useTo()
  const { filters, set } = useUrlFilters(FILTERS)
  const pages = useCursorPages()
  const { q, event } = filters
  const order = useListOrder()
  const list = useQuery(
    trpc.deliveries.events.queryOptions(
      { ...scope, q, order, cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const columns: readonly Column<Row>[] = [
    {
      header: 'Event',
      namesItself: true,
      cell: ({ type, invoiceNumber }) => (
        <>
          <span className="pm-mono pm-nowrap">{type}</span>
          <small>{invoiceNumber === null ? null : `#${invoiceNumber}`}</small>
        </>
      ),
    },
    { header: 'Delivered to', namesItself: true, cell: (row) => <Reported {...row} /> },
    {
      header: 'Invoice',
      wide: true,
      cell: ({ invoiceId }) => (invoiceId === null ? '–' : <Link to={to('invoices', invoiceId)}>Open</Link>),
    },
    { header: 'Time', align: 'right', isOrder: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  const link = (id: string) => {
    const params = new URLSearchParams({ ...(q === '' ? {} : { q }), event: id })
    if (order === 'oldest') params.set('sort', order)
    if (pages.cursor !== undefined) params.set(CURSOR_PARAM, pages.cursor)
    return `${to('webhooks/events')}?${params}`
  }
  return (
    <Page title="Webhooks" documentTitle="Events" tabs={useWebhookTabs('events')}>
      <ListFilters
        chips={chipOf(filters, FILTERS, 'q', 'Search')}
        remove={set}
        search={
          <SearchField
            label="Event, or what finds an invoice"
            placeholder="Event, invoice, order…"
            value={q}
            onSearch={(text) => set({ q: text })}
          />
        }
      />
      <div className={event === '' ? undefined : 'pm-split'}>
        <DataTable
          what="events"
          query={list}
          rows={list.data?.items}
          idOf={({ id }) => id}
          columns={columns}
          to={({ id }) => link(id)}
          selectedId={event === '' ? undefined : event}
          pages={pages}
          nextCursor={list.data?.nextCursor}
          detailParam="event"
          clear={q === '' ? null : () => set({ q: '' })}
          empty={
            <EmptyState
              title="No events yet."
              text="Every invoice change creates an event, even without an endpoint."
            />
          }
        />
        {event === '' ? null : <EventAside eventId={event} onClose={() => set({ event: '' })} />}
      </div>
    </Page>
  )
}

function Reported({ delivered, waiting, failed }: Row) {
  if (delivered + waiting + failed === 0) return <span className="pm-dim">no endpoint</span>
  return (
    <span className="pm-row">
      {delivered === 0 ? null : <ToneBadge tone="paid">{delivered} delivered</ToneBadge>}
      {waiting === 0 ? null : <ToneBadge tone="partial">{waiting} waiting</ToneBadge>}
      {failed === 0 ? null : <ToneBadge tone="danger">{failed} failed</ToneBadge>}
    </span>
  )
}
