import { NativeSelect, SegmentedControl, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { revealHidden } from '../../format/reveal-hidden.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import { AmountField, useAmount } from '../money/amount-field.tsx'
import { LinkLimitFields, readLimits, usesProblem } from './link-limit-fields.tsx'

const KINDS = [
  { value: 'fixed', label: 'Fixed amount' },
  { value: 'custom', label: 'Customer chooses' },
  { value: 'product', label: 'Product' },
]
type Request = Parameters<typeof api.paymentLinks.create.mutate>[0]['link']

/** The form for a new link. */
export function CreateLink({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={open} onClose={onClose} title="New payment link">
      {open ? <Form onClose={onClose} /> : null}
    </Modal>
  )
}

function Form({ onClose }: { readonly onClose: () => void }) {
  const scope = useScope()
  const to = useTo()
  const navigate = useNavigate()
  const [kind, setKind] = useState('fixed')
  const [title, setTitle] = useState('')
  const [currency, setCurrency] = useState('USD')
  const [productId, setProductId] = useState('')
  const [limits, setLimits] = useState({ uses: '', end: '' })
  const amount = useAmount(currency)
  const least = useAmount(currency)
  const most = useAmount(currency)
  const products = useQuery(trpc.products.list.queryOptions({ ...scope, limit: 100 }))
  const action = useAction({
    call: (ids, link: Request) => api.paymentLinks.create.mutate({ ...scope, ...ids, link }),
    done: 'Payment link created.',
    refresh: [trpc.paymentLinks.pathFilter()],
    onDone: ({ id }) => {
      onClose()
      void navigate(to('links', id))
    },
  })
  const fields = action.failure?.fields ?? {}
  const request = (): Request | null => {
    if (kind === 'product') return productId === '' ? null : { product_id: productId }
    const base = { title: title.trim(), currency }
    if (kind === 'fixed') {
      const value = amount.read()
      return value === null ? null : { ...base, amount: value }
    }
    const bounds = [least, most].map((one) => (one.typed === '' ? undefined : one.read()))
    if (bounds.includes(null)) return null
    const [min, max] = bounds
    return {
      ...base,
      allow_custom_amount: true,
      ...(typeof min === 'string' && { min_amount: min }),
      ...(typeof max === 'string' && { max_amount: max }),
    }
  }
  const submit = () => {
    const link = request()
    if (link === null) return
    void action.run({ ...link, ...readLimits(limits) })
  }
  return (
    <ActionForm
      action={action}
      onSubmit={submit}
      submit="Create link"
      onCancel={onClose}
      disabled={usesProblem(limits.uses) !== null || (kind === 'product' ? productId === '' : title.trim() === '')}
      noValidate
    >
      <SegmentedControl aria-label="Price" data={KINDS} value={kind} onChange={setKind} />
      {kind === 'product' ? (
        <NativeSelect
          label="Product"
          description="Title, price and currency are copied from the product and won’t change later."
          data={[
            { value: '', label: 'Choose a product' },
            ...(products.data?.items ?? []).map(({ id, name, price, currency: code }) => ({
              value: id,
              label: `${revealHidden(name)}, ${price} ${code}`,
            })),
          ]}
          {...bindText(productId, setProductId)}
          error={fields['product_id']}
        />
      ) : (
        <TextInput
          label="Title"
          description="Shown to customers."
          required
          {...bindText(title, setTitle)}
          maxLength={200}
          error={fields['title']}
          data-autofocus
        />
      )}
      {kind === 'fixed' ? (
        <AmountField
          label="Amount"
          amount={amount}
          problem={fields['amount']}
          required
          beside={<CurrencyField value={currency} onChange={setCurrency} />}
        />
      ) : null}
      {kind === 'custom' ? (
        <>
          <CurrencyField value={currency} onChange={setCurrency} />
          <AmountField label="Minimum (optional)" amount={least} problem={fields['min_amount']} />
          <AmountField label="Maximum (optional)" amount={most} problem={fields['max_amount']} />
        </>
      ) : null}
      {kind === 'product' ? (
        <QueryView query={products} what="the products" skeleton={null}>
          {() => null}
        </QueryView>
      ) : null}
      <LinkLimitFields limits={limits} onChange={setLimits} fields={fields} />
    </ActionForm>
  )
}

function CurrencyField(props: { readonly value: string; readonly onChange: (code: string) => void }) {
  return <NativeSelect label="Currency" data={[...FIAT_CODES]} {...bindText(props.value, props.onChange)} />
}
