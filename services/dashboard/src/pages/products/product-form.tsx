import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { useScope } from '../../session/scope.ts'
import { AmountField, useAmount } from '../money/amount-field.tsx'
import type { ProductRow } from '../money/answers.ts'

type Request = Parameters<typeof api.products.create.mutate>[0]['product']

/** The form for a new product, or that changes `product`: name, description and price. */
export function ProductForm({
  product,
  onClose,
}: {
  readonly product: ProductRow | null
  readonly onClose: () => void
}) {
  const scope = useScope()
  // What the form began with. It follows the product only when asked, so that nothing is overwritten unseen.
  const [seen, setSeen] = useState(product)
  const [name, setName] = useState(product?.name ?? '')
  const [sku, setSku] = useState('')
  const [description, setDescription] = useState(product?.description ?? '')
  const [currency, setCurrency] = useState<string>(product?.currency ?? 'USD')
  const price = useAmount(currency, product?.price)
  const action = useAction({
    call: (ids, { version, fields: typed }: { readonly version: number; readonly fields: Request }) => {
      const { name: title, price: amount, description: text } = typed
      if (product === null) return api.products.create.mutate({ ...scope, ...ids, product: typed })
      const change = { name: title, price: amount, ...(text !== undefined && { description: text }) }
      return api.products.update.mutate({ ...scope, ...ids, id: product.id, version, product: change })
    },
    done: product === null ? 'Product added.' : 'Product saved.',
    refresh: [trpc.products.pathFilter()],
    onDone: onClose,
  })
  const fields = action.failure?.fields ?? {}
  const isOld = product?.updated_at !== seen?.updated_at
  const submit = () => {
    const value = price.read()
    if (value === null) return
    const typed = {
      name: name.trim(),
      price: value,
      currency,
      ...(sku.trim() === '' ? {} : { sku: sku.trim() }),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
    }
    void action.run({ version: seen === null ? 0 : Date.parse(seen.updated_at), fields: typed })
  }
  return (
    <ActionForm
      action={action}
      onSubmit={submit}
      submit={product === null ? 'Add product' : 'Save'}
      onCancel={onClose}
      disabled={isOld || name.trim() === '' || price.typed === ''}
      beside={
        isOld ? (
          <Button
            variant="default"
            onClick={() => {
              setSeen(product)
              action.clear()
            }}
          >
            Keep mine
          </Button>
        ) : null
      }
      noValidate
    >
      <TextInput
        label="Name"
        description="Shown to customers."
        required
        {...bindText(name, setName)}
        maxLength={200}
        error={fields['name']}
        data-autofocus
      />
      <AmountField
        label={product === null ? 'Price' : `Price in ${currency}`}
        amount={price}
        problem={fields['price']}
        required
      />
      {product === null ? (
        <>
          <NativeSelect label="Currency" data={[...FIAT_CODES]} {...bindText(currency, setCurrency)} />
          <TextInput
            label="SKU (optional)"
            description="Your own item number."
            {...bindText(sku, setSku)}
            maxLength={100}
            error={fields['sku']}
          />
        </>
      ) : (
        <p className="pm-muted">Payment links and invoices that exist keep their price.</p>
      )}
      <Textarea
        label="Description (optional)"
        {...bindText(description, setDescription)}
        maxLength={500}
        error={fields['description']}
      />
      {isOld && product !== null ? (
        <p className="pm-small" role="status">
          Changed meanwhile. Now stored: “{product.name}”, {product.price} {product.currency}.{' '}
          <strong>Keep mine</strong> lets you replace it.
        </p>
      ) : null}
    </ActionForm>
  )
}
