import { Button, Checkbox } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import type { api } from '../../api/trpc.ts'
import { trpc } from '../../api/trpc.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useListOrder } from '../../parts/table/list-order.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { Span, Time } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useScope, useTo } from '../../session/scope.ts'
import { FirstEndpoint } from '../webhooks/first-endpoint.tsx'
import { answerLabel, DeliveryBadge, hostOf } from '../webhooks/labels.tsx'
import { useWebhookTabs } from '../webhooks/tabs.ts'
import '../webhooks/webhooks.css'
import { DELIVERY_FILTERS, DeliveryFilters, useDeliverySearch } from './delivery-filters.tsx'
import { ResendMany } from './resend-many.tsx'

type Row = Awaited<ReturnType<typeof api.deliveries.list.query>>['items'][number]

/** Deliveries with the open one next to them. */
export function DeliveriesPage() {
  const scope = useScope()
  const to = useTo()
  const { id } = useParams()
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const { filters, set, clear, filtered } = useUrlFilters(DELIVERY_FILTERS)
  const pages = useCursorPages()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [recovering, setRecovering] = useState(false)
  const Aside = useLoaded(id !== undefined, async () => (await import('./delivery-aside.tsx')).DeliveryAside)
  const Recover = useLoaded(
    recovering,
    async () => (await import('../webhooks/recover-dialog.tsx')).RecoverDialog,
    () => setRecovering(false),
  )
  const endpoints = useQuery(trpc.endpoints.list.queryOptions(scope))
  const list = useQuery(
    trpc.deliveries.list.queryOptions(
      { ...scope, ...useDeliverySearch(filters), order: useListOrder(), cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const query = params.toString()
  const withQuery = (path: string) => (query === '' ? path : `${path}?${query}`)
  const close = () => void navigate(withQuery(to('webhooks/deliveries')))
  return (
    <Page
      title="Webhooks"
      documentTitle="Deliveries"
      tabs={useWebhookTabs('deliveries', endpoints.data?.items.length)}
      actions={
        <Button
          variant="default"
          leftSection={<IconHistory size={16} aria-hidden />}
          onClick={() => setRecovering(true)}
          disabled={(endpoints.data?.items.length ?? 0) === 0}
        >
          Resend missed events…
        </Button>
      }
    >
      {Recover === null ? null : (
        <Recover
          endpoints={endpoints.data?.items ?? []}
          endpointId={filters.endpoint === 'all' ? null : filters.endpoint}
          open={recovering}
          onClose={() => setRecovering(false)}
        />
      )}
      <DeliveryFilters filters={filters} set={set} endpoints={endpoints.data?.items ?? []} />
      <ResendMany chosen={chosen} onDone={() => setChosen(new Set())} />
      <div className={id === undefined ? undefined : 'pm-split'}>
        <DataTable
          what="deliveries"
          query={list}
          rows={list.data?.items}
          idOf={(row) => row.id}
          columns={columns({ rows: list.data?.items ?? [], chosen, set: setChosen })}
          to={(row) => withQuery(to('webhooks/deliveries', row.id))}
          selectedId={id}
          pages={pages}
          nextCursor={list.data?.nextCursor}
          empty={
            filtered ? (
              <EmptyState title="No deliveries match.">
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              </EmptyState>
            ) : (
              <FirstEndpoint hasEndpoints={(endpoints.data?.items.length ?? 0) > 0} />
            )
          }
        />
        {id === undefined || Aside === null ? null : <Aside deliveryId={id} onClose={close} />}
      </div>
    </Page>
  )
}

/** Rows that are chosen to be sent again. */
interface Choice {
  readonly rows: readonly Row[]
  readonly chosen: ReadonlySet<string>
  readonly set: (chosen: ReadonlySet<string>) => void
}

function columns(choice: Choice): readonly Column<Row>[] {
  const { rows, chosen, set } = choice
  const count = rows.filter(({ id }) => chosen.has(id)).length
  const isAll = count > 0 && count === rows.length
  const without = (some: readonly string[]) => [...chosen].filter((id) => !some.includes(id))
  const ids = rows.map(({ id }) => id)
  return [
    {
      header: 'Select',
      namesItself: true,
      wide: true,
      head: (
        <Checkbox
          aria-label="Select all deliveries of this page"
          checked={isAll}
          indeterminate={count > 0 && !isAll}
          disabled={rows.length === 0}
          onChange={() => set(new Set(isAll ? without(ids) : [...chosen, ...ids]))}
        />
      ),
      cell: ({ id, eventType }) => (
        <Checkbox
          aria-label={`Select ${eventType} ${id.slice(-6)}`}
          checked={chosen.has(id)}
          onChange={() => set(new Set(chosen.has(id) ? without([id]) : [...chosen, id]))}
        />
      ),
    },
    {
      header: 'Event',
      namesItself: true,
      isLink: true,
      cell: ({ eventType, invoiceNumber, endpointUrl }) => (
        <>
          <span className="pm-mono pm-nowrap">{eventType}</span>
          <small>
            {invoiceNumber === null ? null : `#${invoiceNumber} · `}
            {hostOf(endpointUrl)}
          </small>
        </>
      ),
    },
    { header: 'Status', namesItself: true, cell: (row) => <DeliveryBadge {...row} /> },
    { header: 'Response', cell: answerLabel, wide: true },
    { header: 'Attempt', cell: ({ attempt, attemptsMax }) => `${attempt} of ${attemptsMax}`, wide: true },
    { header: 'Created', isOrder: true, wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: 'Last / next attempt', align: 'right', cell: (row) => <LastOrNext {...row} /> },
  ]
}

function LastOrNext({ status, dueAt, finishedAt, createdAt, endpointUrl, inFlight }: Row) {
  if (status !== 'pending') {
    const words = { succeeded: '', failed: 'no more attempts', held: 'endpoint paused' }[status]
    return (
      <>
        <Time at={finishedAt ?? createdAt} />
        <small>{endpointUrl === null ? 'endpoint deleted' : words}</small>
      </>
    )
  }
  return (
    <>
      <Time at={inFlight ? createdAt : dueAt} />
      <small>
        {inFlight ? (
          'sending now'
        ) : dueAt > Date.now() ? (
          <>
            next attempt in <Span at={dueAt} stepMs={10_000} />
          </>
        ) : (
          'due now'
        )}
      </small>
    </>
  )
}
