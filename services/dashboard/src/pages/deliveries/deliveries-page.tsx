import { Button, Checkbox } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { type api, trpc } from '#services/dashboard/src/api/trpc.ts'
import { FirstEndpoint } from '#services/dashboard/src/pages/webhooks/first-endpoint.tsx'
import { answerLabel, DeliveryBadge } from '#services/dashboard/src/pages/webhooks/labels.tsx'
import { useWebhookTabs } from '#services/dashboard/src/pages/webhooks/tabs.ts'
import { loadedDialog } from '#services/dashboard/src/parts/dialog/loaded-dialog.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import type { Column } from '#services/dashboard/src/parts/table/column.ts'
import { DataTable } from '#services/dashboard/src/parts/table/data-table.tsx'
import { useListOrder } from '#services/dashboard/src/parts/table/list-order.ts'
import { useCursorPages } from '#services/dashboard/src/parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '#services/dashboard/src/parts/table/use-url-filters.ts'
import { Time, Until } from '#services/dashboard/src/parts/time.tsx'
import { useLoaded } from '#services/dashboard/src/parts/use-loaded.ts'
import { useScope, useTo } from '#services/dashboard/src/session/scope.ts'
import { hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import '#services/dashboard/src/pages/webhooks/webhooks.css'
import { DELIVERY_FILTERS, DeliveryFilters, useDeliverySearch } from './delivery-filters.tsx'

const RecoverDialog = loadedDialog(async () => (await import('../webhooks/recover-dialog.tsx')).RecoverDialog)

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
  const ResendMany = useLoaded(chosen.size > 0, async () => (await import('./resend-many.tsx')).ResendMany)
  const Aside = useLoaded(id !== undefined, async () => (await import('./delivery-aside.tsx')).DeliveryAside)
  const endpoints = useQuery(trpc.endpoints.list.queryOptions(scope)).data?.items
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
      tabs={useWebhookTabs('deliveries', endpoints?.length)}
      actions={
        <Button
          variant="default"
          leftSection={<IconHistory size={16} aria-hidden />}
          onClick={() => setRecovering(true)}
          disabled={!endpoints?.length}
        >
          Resend missed events…
        </Button>
      }
    >
      <RecoverDialog
        endpoints={endpoints ?? []}
        endpointId={filters.endpoint === 'all' ? null : filters.endpoint}
        open={recovering}
        onClose={() => setRecovering(false)}
      />
      <DeliveryFilters filters={filters} set={set} endpoints={endpoints ?? []} />
      {ResendMany === null || chosen.size === 0 ? null : (
        <ResendMany chosen={chosen} onDone={() => setChosen(new Set())} />
      )}
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
          clear={filtered ? clear : null}
          empty={<FirstEndpoint hasEndpoints={endpoints?.length !== 0} />}
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
            {hostAndPath(endpointUrl)}
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
        ) : (
          <Until at={dueAt} past="due now">
            {(left) => <>next attempt in {left}</>}
          </Until>
        )}
      </small>
    </>
  )
}
