import { Button } from '@mantine/core'
import { IconPencil, IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trpc } from '../../api/trpc.ts'
import { revealHidden } from '../../format/reveal-hidden.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Money } from '../../parts/money.tsx'
import { Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useListOrder } from '../../parts/table/list-order.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import type { ProductRow } from '../money/answers.ts'
import { ProductForm } from './product-form.tsx'

/** Products at a fixed price. */
export function ProductsPage() {
  const scope = useScope()
  const may = useMay('support', 'active')
  const pages = useCursorPages()
  const [adding, setAdding] = useState(false)
  const [editedId, setEditedId] = useState<string | null>(null)
  const list = useQuery(
    trpc.products.list.queryOptions(
      { ...scope, order: useListOrder(), cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const edited = list.data?.items.find(({ id }) => id === editedId)
  const add = (
    <Button onClick={() => setAdding(true)} leftSection={<IconPlus size={16} aria-hidden />}>
      New product
    </Button>
  )
  return (
    <Page title="Products" actions={may ? add : undefined}>
      <DataTable
        what="products"
        columns={may ? [...COLUMNS, editColumn(setEditedId)] : COLUMNS}
        query={list}
        rows={list.data?.items}
        idOf={({ id }) => id}
        pages={pages}
        nextCursor={list.data?.nextCursor}
        empty={
          <EmptyState title="Save a name and price once, then create payment links from it.">
            {may ? add : null}
          </EmptyState>
        }
      />
      <Modal opened={adding} onClose={() => setAdding(false)} title="New product">
        <ProductForm product={null} onClose={() => setAdding(false)} />
      </Modal>
      <Modal opened={edited !== undefined} onClose={() => setEditedId(null)} title="Edit product">
        {edited === undefined ? null : (
          <ProductForm key={edited.id} product={edited} onClose={() => setEditedId(null)} />
        )}
      </Modal>
    </Page>
  )
}

const COLUMNS: readonly Column<ProductRow>[] = [
  { header: 'Name', namesItself: true, cell: ({ name }) => <UntrustedText>{name}</UntrustedText> },
  { header: 'Price', align: 'right', cell: ({ price, currency }) => <Money value={price} currency={currency} /> },
  {
    header: 'SKU',
    wide: true,
    cell: ({ sku }) => (sku === null ? <span className="pm-dim">–</span> : <UntrustedText mono>{sku}</UntrustedText>),
  },
  { header: 'Added', isOrder: true, cell: ({ created_at: at }) => <Time at={at} /> },
]

const editColumn = (edit: (id: string) => void): Column<ProductRow> => ({
  header: '',
  namesItself: true,
  head: <span className="unseen">Actions</span>,
  align: 'right',
  cell: ({ id, name }) => (
    <Button
      size="compact-sm"
      variant="subtle"
      aria-label={`Edit ${revealHidden(name)}`}
      leftSection={<IconPencil size={14} aria-hidden />}
      onClick={() => edit(id)}
    >
      Edit
    </Button>
  ),
})
