import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Modal } from '../../parts/modal.tsx'
import { Money } from '../../parts/money.tsx'
import { Page } from '../../parts/page.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import { AmountField, useAmount } from '../money/amount-field.tsx'
import type { ProductRow } from '../money/answers.ts'

/** Products at a fixed price. */
export function ProductsPage() {
  const scope = useScope()
  const may = useMay('support')
  const pages = useCursorPages()
  const [adding, setAdding] = useState(false)
  const list = useQuery(
    trpc.products.list.queryOptions({ ...scope, cursor: pages.cursor }, { placeholderData: keepPreviousData }),
  )
  const add = (
    <Button onClick={() => setAdding(true)} leftSection={<IconPlus size={16} aria-hidden />}>
      New product
    </Button>
  )
  return (
    <Page title="Products" actions={may ? add : undefined}>
      <DataTable
        what="products"
        columns={COLUMNS}
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
        <ProductForm onClose={() => setAdding(false)} />
      </Modal>
    </Page>
  )
}

const COLUMNS: readonly Column<ProductRow>[] = [
  { header: 'Name', cell: ({ name }) => <UntrustedText>{name}</UntrustedText> },
  { header: 'Price', align: 'right', cell: ({ price, currency }) => <Money value={price} currency={currency} /> },
  {
    header: 'SKU',
    wide: true,
    cell: ({ sku }) => (sku === null ? <span className="pm-dim">–</span> : <UntrustedText mono>{sku}</UntrustedText>),
  },
  { header: 'Added', cell: ({ created_at: at }) => <Time at={at} /> },
]

function ProductForm({ onClose }: { readonly onClose: () => void }) {
  const scope = useScope()
  const [name, setName] = useState('')
  const [sku, setSku] = useState('')
  const [description, setDescription] = useState('')
  const [currency, setCurrency] = useState('USD')
  const price = useAmount(currency)
  const action = useAction({
    call: (ids, product: Parameters<typeof api.products.create.mutate>[0]['product']) =>
      api.products.create.mutate({ ...scope, ...ids, product }),
    done: 'Product added.',
    refresh: [trpc.products.pathFilter()],
    onDone: onClose,
  })
  const fields = action.failure?.fields ?? {}
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const value = price.read()
    if (value === null) return
    void action.run({
      name: name.trim(),
      price: value,
      currency,
      ...(sku.trim() === '' ? {} : { sku: sku.trim() }),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
    })
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <TextInput
        label="Name"
        description="Shown to customers."
        required
        value={name}
        maxLength={200}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={fields['name']}
        data-autofocus
      />
      <AmountField label="Price" amount={price} problem={fields['price']} required />
      <NativeSelect
        label="Currency"
        data={[...FIAT_CODES]}
        value={currency}
        onChange={({ currentTarget }) => setCurrency(currentTarget.value)}
      />
      <TextInput
        label="SKU (optional)"
        description="Your own item number."
        value={sku}
        maxLength={100}
        onChange={({ currentTarget }) => setSku(currentTarget.value)}
        error={fields['sku']}
      />
      <Textarea
        label="Description (optional)"
        value={description}
        maxLength={500}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        error={fields['description']}
      />
      <ActionFailure failure={action.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={action.busy} disabled={name.trim() === '' || price.typed === ''}>
          Add product
        </Button>
      </div>
    </form>
  )
}
