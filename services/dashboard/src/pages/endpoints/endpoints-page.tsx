import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { endpointName, hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import { trpc } from '../../api/trpc.ts'
import { showShare } from '../../format/amounts.ts'
import { loadedDialog } from '../../parts/dialog/loaded-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Since, Until } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { FirstEndpoint } from '../webhooks/first-endpoint.tsx'
import { SecretOnce } from '../webhooks/secret-once.tsx'
import { useWebhookTabs } from '../webhooks/tabs.ts'
import '../webhooks/webhooks.css'
import { type Endpoint, HealthBadge } from './health-badge.tsx'

const AddEndpoint = loadedDialog(async () => (await import('./add-endpoint.tsx')).AddEndpoint)

/** Webhook endpoints and their health. */
export function EndpointsPage() {
  const scope = useScope()
  const to = useTo()
  const navigate = useNavigate()
  const { id } = useParams()
  const [params, setParams] = useSearchParams()
  const may = useMay('admin', 'restricted')
  const [secret, setSecret] = useState<string | null>(null)
  const list = useQuery(trpc.endpoints.list.queryOptions(scope))
  const open = list.data?.items.find((endpoint) => endpoint.id === id)
  const adding = may && params.get('add') === 'yes'
  const endAdding = () => setParams({}, { replace: true })
  const Aside = useLoaded(open !== undefined, async () => (await import('./endpoint-aside.tsx')).EndpointAside)
  return (
    <Page
      title="Webhooks"
      documentTitle="Endpoints"
      tabs={useWebhookTabs('endpoints', list.data?.items.length)}
      actions={
        may ? (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setParams({ add: 'yes' })}>
            Add endpoint
          </Button>
        ) : undefined
      }
    >
      <AddEndpoint open={adding} onClose={endAdding} onSecret={setSecret} />
      <SecretOnce secret={secret} onClose={() => setSecret(null)} />
      {repeatedUrls(list.data?.items ?? []).map((url) => (
        <p key={url} role="status" className="pm-warn">
          Several endpoints have the URL <UntrustedText>{url}</UntrustedText>. It gets each event once from every one of
          them: delete those that you do not need.
        </p>
      ))}
      {id !== undefined && list.data !== undefined && open === undefined ? (
        <p role="status" className="pm-warn">
          This endpoint is no longer here. It was deleted, or it belongs to the other mode (live or test).
        </p>
      ) : null}
      <div className={open === undefined ? undefined : 'pm-split'}>
        <DataTable
          what="endpoints"
          query={list}
          rows={list.data?.items}
          idOf={(row) => row.id}
          columns={COLUMNS}
          to={(row) => to('webhooks/endpoints', row.id)}
          selectedId={id}
          empty={<FirstEndpoint hasEndpoints={false} />}
        />
        {open === undefined || Aside === null ? null : (
          <Aside
            key={open.id}
            endpoint={open}
            onClose={() => void navigate(to('webhooks/endpoints'))}
            onSecret={setSecret}
          />
        )}
      </div>
    </Page>
  )
}

/** Each URL that more than one of the endpoints has. */
function repeatedUrls(endpoints: readonly Endpoint[]): readonly string[] {
  const urls = endpoints.map(({ url }) => new URL(url).href)
  return [...new Set(urls.filter((url, index) => urls.indexOf(url) !== index))]
}

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    header: 'Endpoint',
    namesItself: true,
    sortBy: endpointName,
    // The note first: a shop often has several endpoints at one host.
    cell: ({ url, description }) => (
      <>
        <UntrustedText>{description ?? hostAndPath(url)}</UntrustedText>
        {description === null ? null : (
          <small>
            <UntrustedText>{hostAndPath(url)}</UntrustedText>
          </small>
        )}
      </>
    ),
  },
  {
    header: 'Health',
    namesItself: true,
    sortBy: ({ health }) => health.state,
    cell: ({ health }) => <HealthBadge state={health.state} />,
  },
  {
    header: 'Events',
    wide: true,
    cell: ({ events }) => (events.includes('*') ? 'all' : `${events.length} ${events.length === 1 ? 'type' : 'types'}`),
  },
  {
    header: 'Delivered',
    align: 'right',
    cell: ({ health: { tried, delivered, firstTry } }) =>
      tried === 0 ? (
        '–'
      ) : (
        <>
          {showShare(delivered / tried)} of the last {tried}
          <small>{showShare(firstTry / tried)} on the first attempt</small>
        </>
      ),
  },
  {
    header: 'Waiting',
    align: 'right',
    cell: ({ health: { waiting, retrying, held, oldestDueAt } }) => (
      <>
        {waiting + held}
        <small>
          {held > 0 ? (
            `${held} paused`
          ) : retrying > 0 ? (
            `${retrying} retrying`
          ) : oldestDueAt === null ? null : (
            <Until
              at={oldestDueAt}
              past={
                <>
                  oldest overdue by <Since at={oldestDueAt} stepMs={10_000} />
                </>
              }
            >
              {() => null}
            </Until>
          )}
        </small>
      </>
    ),
  },
]
