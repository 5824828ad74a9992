import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trpc } from '#services/dashboard/src/api/trpc.ts'
import { Note } from '#services/dashboard/src/parts/card.tsx'
import { CopyButton } from '#services/dashboard/src/parts/copy-text.tsx'
import { loadedDialog } from '#services/dashboard/src/parts/dialog/loaded-dialog.tsx'
import { EmptyState } from '#services/dashboard/src/parts/empty-state.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { stepUpFirst } from '#services/dashboard/src/parts/second-factor/step-up.ts'
import { ToneBadge } from '#services/dashboard/src/parts/status-badge.tsx'
import { DataTable } from '#services/dashboard/src/parts/table/data-table.tsx'
import { Time } from '#services/dashboard/src/parts/time.tsx'
import { UntrustedText } from '#services/dashboard/src/parts/untrusted-text.tsx'
import { useMay, useScope } from '#services/dashboard/src/session/scope.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { RevokeKey } from './revoke-key.tsx'

const CreateKey = loadedDialog(async () => (await import('./create-key.tsx')).CreateKey)

/** API keys of the workspace. A key is shown once, when it is created. */
export function KeysPage() {
  const scope = useScope()
  const isAdmin = useMay('admin', 'restricted')
  const [isCreating, setCreating] = useState(false)
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
      <CreateKey open={isCreating} onClose={() => setCreating(false)} onMade={setMade} />
    </Page>
  )
}

interface NewKeyNoteProps {
  /** Null for a repetition: the key was in the first response. */
  readonly made: { readonly name: string; readonly apiKey: string | null }
  readonly mode: Mode
  readonly onStored: () => void
}

/** The newly created key, shown only this once. */
export function NewKeyNote({ made: { name, apiKey }, mode, onStored }: NewKeyNoteProps) {
  if (apiKey === null) {
    return (
      <Note tone="partial">
        <p>
          The key <UntrustedText>{name}</UntrustedText> was already created and can’t be shown again. If you did not
          save it, revoke it and create another one.
        </p>
        <Button size="xs" variant="default" onClick={onStored}>
          Close
        </Button>
      </Note>
    )
  }
  return (
    <Note tone="partial">
      <section className="pm-stack" aria-label="New key">
        <p>
          <b>
            Copy your {mode} key <UntrustedText>{name}</UntrustedText> now. It won’t be shown again.
          </b>{' '}
          Anyone who has it can use its permissions.
        </p>
        <div className="pm-row">
          <code className="pm-code" data-new-key="">
            {apiKey}
          </code>
          <CopyButton text={apiKey} what="key" />
        </div>
        <div>
          <Button onClick={onStored}>I’ve saved it</Button>
        </div>
      </section>
    </Note>
  )
}
