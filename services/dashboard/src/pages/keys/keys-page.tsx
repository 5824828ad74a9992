import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trpc } from '../../api/trpc.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { stepUpFirst } from '../../parts/second-factor/step-up.ts'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useMay, useScope } from '../../session/scope.ts'
import { NewKeyNote } from './new-key-note.tsx'
import { RevokeKey } from './revoke-key.tsx'

/** API keys of the workspace. A key is shown once, when it is created. */
export function KeysPage() {
  const scope = useScope()
  const isAdmin = useMay('admin', 'restricted')
  const [isCreating, setCreating] = useState(false)
  const Create = useLoaded(
    isCreating,
    async () => (await import('./create-key.tsx')).CreateKey,
    () => setCreating(false),
  )
  const [made, setMade] = useState<{ readonly name: string; readonly apiKey: string | null } | null>(null)
  const keys = useQuery(trpc.apiKeys.list.queryOptions(scope))
  // The code first: nobody fills in a form that a missing authenticator then refuses.
  const open = async () => {
    if (await stepUpFirst()) setCreating(true)
  }
  const create = (
    <Button onClick={() => void open()} disabled={!isAdmin}>
      New key
    </Button>
  )
  return (
    <Page title="API keys" actions={create}>
      <div className="pm-stack">
        {made === null ? null : <NewKeyNote made={made} mode={scope.mode} onStored={() => setMade(null)} />}
        <DataTable
          what="keys"
          query={keys}
          rows={keys.data?.items}
          idOf={({ id }) => id}
          empty={
            <EmptyState title={scope.mode === 'test' ? 'Create a test key to try the API.' : 'New key for your shop.'}>
              {create}
            </EmptyState>
          }
          columns={[
            {
              header: 'Name',
              namesItself: true,
              sortBy: ({ name }) => name ?? 'Unnamed',
              cell: ({ name }) =>
                name === null ? <span className="pm-dim">Unnamed</span> : <UntrustedText>{name}</UntrustedText>,
            },
            {
              header: 'Key',
              namesItself: true,
              cell: ({ mode, last4 }) => <span className="pm-mono pm-nowrap">{`pm_${mode}_…${last4}`}</span>,
            },
            {
              header: 'State',
              namesItself: true,
              cell: ({ revokedAt }) =>
                revokedAt === null ? (
                  <ToneBadge tone="paid">Active</ToneBadge>
                ) : (
                  <ToneBadge tone="cancelled">Revoked</ToneBadge>
                ),
            },
            {
              header: 'Permissions',
              wide: true,
              cell: ({ scopes }) => <span className="pm-small">{scopes.join(', ')}</span>,
            },
            {
              header: 'Created',
              sortBy: ({ createdAt }) => createdAt,
              cell: ({ createdAt }) => <Time at={createdAt} />,
            },
            {
              header: 'Last used',
              sortBy: ({ lastUsedAt }) => lastUsedAt,
              cell: ({ lastUsedAt }) =>
                lastUsedAt === null ? <span className="pm-dim">Never</span> : <Time at={lastUsedAt} />,
            },
            {
              header: 'Revoke',
              namesItself: true,
              align: 'right',
              cell: (key) =>
                key.revokedAt === null ? (
                  <RevokeKey apiKey={key} />
                ) : (
                  <>
                    revoked <Time at={key.revokedAt} />
                  </>
                ),
            },
          ]}
        />
      </div>
      {Create === null ? null : <Create opened={isCreating} onClose={() => setCreating(false)} onMade={setMade} />}
    </Page>
  )
}
