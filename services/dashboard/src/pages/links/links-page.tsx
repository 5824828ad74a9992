import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trpc } from '../../api/trpc.ts'
import { loadedDialog } from '../../parts/dialog/loaded-dialog.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useListOrder } from '../../parts/table/list-order.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { LinkAmount, LinkStatus, LinkUses } from '../link/link-labels.tsx'
import type { LinkRow } from '../money/answers.ts'

const CreateLink = loadedDialog(async () => (await import('./create-link.tsx')).CreateLink)

/** Payment links with their status and uses. */
export function LinksPage() {
  const scope = useScope()
  const to = useTo()
  const may = useMay('support', 'active')
  const pages = useCursorPages()
  const [adding, setAdding] = useState(false)
  const list = useQuery(
    trpc.paymentLinks.list.queryOptions(
      { ...scope, order: useListOrder(), cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const add = (
    <Button onClick={() => setAdding(true)} leftSection={<IconPlus size={16} aria-hidden />}>
      New link
    </Button>
  )
  return (
    <Page title="Payment links" actions={may ? add : undefined}>
      <DataTable
        what="links"
        columns={COLUMNS}
        query={list}
        rows={list.data?.items}
        idOf={({ id }) => id}
        to={({ id }) => to('links', id)}
        pages={pages}
        nextCursor={list.data?.nextCursor}
        empty={
          <EmptyState title="Take payments without a website. Share the link or print its QR code.">
            {may ? add : null}
          </EmptyState>
        }
      />
      <CreateLink open={adding} onClose={() => setAdding(false)} />
    </Page>
  )
}

const COLUMNS: readonly Column<LinkRow>[] = [
  { header: 'Title', namesItself: true, cell: ({ title }) => <UntrustedText>{title}</UntrustedText> },
  { header: 'Status', namesItself: true, cell: (link) => <LinkStatus status={link.status} /> },
  { header: 'Amount', align: 'right', cell: (link) => <LinkAmount link={link} /> },
  { header: 'Uses', align: 'right', cell: (link) => <LinkUses link={link} /> },
  {
    header: 'Ends',
    wide: true,
    cell: ({ expires_at: at }) => (at === null ? <span className="pm-dim">–</span> : <Time at={at} />),
  },
  { header: 'Created', isOrder: true, cell: ({ created_at: at }) => <Time at={at} /> },
]
