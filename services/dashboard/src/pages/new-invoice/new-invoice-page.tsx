import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { isMailAddress } from '#shared/contracts/mail-address.ts'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { usePlace, useRefusal, useScope, useTo } from '../../session/scope.ts'
import { AmountField, type TypedAmount, useAmount } from '../money/amount-field.tsx'
import '../money/money.css'
import { bindText } from '../../parts/bind-text.ts'

const LIVES = [
  { value: '', label: 'Workspace default' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]
const DAY_S = 86_400
type Request = Parameters<typeof api.invoices.create.mutate>[0]['invoice']

interface Draft {
  readonly currency: string
  readonly asset: string
  readonly description: string
  readonly order: string
  readonly name: string
  readonly email: string
  readonly life: string
}
const EMPTY: Draft = { currency: 'USD', asset: '', description: '', order: '', name: '', email: '', life: '' }

/** The form for a manual invoice, with a preview. */
export function NewInvoicePage() {
  const scope = useScope()
  const to = useTo()
  const navigate = useNavigate()
  const refusal = useRefusal('support', 'active')
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const amount = useAmount(draft.currency)
  const create = useAction({
    call: (ids, invoice: Request) => api.invoices.create.mutate({ ...scope, ...ids, invoice }),
    done: ({ number }) => `Invoice #${number} created.`,
    refresh: [trpc.invoices.pathFilter()],
    onDone: ({ id }) => void navigate(to('invoices', id)),
  })
  const submit = () => {
    const value = amount.read()
    if (value === null) return document.querySelector<HTMLElement>('[name=amount]')?.focus()
    void create.run(requestOf(draft, value))
  }
  if (refusal !== null) {
    return (
      <Page title="New invoice">
        <p>{refusal}</p>
      </Page>
    )
  }
  return (
    <Page title="New invoice">
      <div className="pm-split">
        <Card>
          <ActionForm action={create} onSubmit={submit} submit="Create invoice" noValidate>
            <Fields draft={draft} amount={amount} fields={create.failure?.fields ?? {}} change={setDraft} />
          </ActionForm>
        </Card>
        <Preview draft={draft} amount={amount} />
      </div>
    </Page>
  )
}

function requestOf(draft: Draft, amount: string): Request {
  const { currency, asset, life } = draft
  const [description, order, name, email] = [draft.description, draft.order, draft.name, draft.email].map((text) =>
    text.trim(),
  )
  const customer = { ...(name && { name }), ...(email && { email }) }
  return {
    amount,
    currency,
    ...(asset !== '' && { asset }),
    ...(description && { description }),
    ...(order && { order_id: order }),
    ...(Object.keys(customer).length > 0 && { customer }),
    ...(life !== '' && { expires_in: Number(life) }),
  }
}

function Fields(props: {
  readonly draft: Draft
  readonly amount: TypedAmount
  readonly fields: Readonly<Record<string, string>>
  readonly change: (draft: Draft) => void
}) {
  const { draft, amount, fields, change } = props
  const scope = useScope()
  const { data: assets = [] } = useQuery(trpc.invoices.assets.queryOptions(scope))
  const set = (part: Partial<Draft>) => change({ ...draft, ...part })
  const [emailProblem, setEmailProblem] = useState<string | null>(null)
  const risky = draft.asset !== '' && Number(draft.life) > DAY_S
  return (
    <>
      <AmountField
        label="Amount"
        amount={amount}
        problem={fields['amount']}
        required
        beside={
          <NativeSelect
            label="Currency"
            data={[...FIAT_CODES]}
            {...bindText(draft.currency, (currency) => set({ currency }))}
            error={fields['currency']}
          />
        }
      />
      <div className="pm-pair">
        <NativeSelect
          label="Coin"
          description="Left open, the customer picks the coin and gets a fresh rate."
          data={[
            { value: '', label: 'Customer chooses' },
            ...assets.map(({ id, symbol, networkName, unavailable }) => ({
              value: id,
              label: `${symbol} on ${networkName}${unavailable === null ? '' : ' (not available now)'}`,
              disabled: unavailable !== null,
            })),
          ]}
          {...bindText(draft.asset, (asset) => set({ asset }))}
          error={fields['asset']}
        />
        <NativeSelect
          label="Valid for"
          data={LIVES}
          {...bindText(draft.life, (life) => set({ life }))}
          description={
            risky
              ? 'The rate is locked for the whole period. If the coin loses value, you bear the loss.'
              : 'After that it expires. Later payments need your review.'
          }
          error={fields['expires_in']}
        />
      </div>
      <Textarea
        label="Description (optional)"
        description="Shown to the customer."
        {...bindText(draft.description, (description) => set({ description }))}
        maxLength={500}
        error={fields['description']}
      />
      <TextInput
        label="Order (optional)"
        {...bindText(draft.order, (order) => set({ order }))}
        maxLength={120}
        error={fields['order_id']}
      />
      <div className="pm-pair">
        <TextInput
          label="Customer name (optional)"
          {...bindText(draft.name, (name) => set({ name }))}
          maxLength={200}
          error={fields['customer.name']}
        />
        <TextInput
          name="email"
          label="Customer email (optional)"
          type="email"
          value={draft.email}
          maxLength={254}
          onChange={({ currentTarget }) => {
            set({ email: currentTarget.value })
            setEmailProblem(null)
          }}
          onBlur={({ currentTarget }) => setEmailProblem(emailProblemOf(currentTarget.value))}
          error={emailProblem ?? fields['customer.email']}
        />
      </div>
    </>
  )
}

/** The server decides what an address is; this catches a slip while the person is still at the field. */
const emailProblemOf = (text: string) =>
  text.trim() === '' || isMailAddress(text.trim())
    ? null
    : 'Enter an email address such as ana@example.com, or leave it empty.'

/** The bill as the customer will see it. */
function Preview({ draft, amount }: { readonly draft: Draft; readonly amount: TypedAmount }) {
  const { workspaceName } = usePlace()
  const assets = useQuery(trpc.invoices.assets.queryOptions(useScope()))
  const chosen = assets.data?.find(({ id }) => id === draft.asset)
  return (
    <section className="pm-preview" aria-label="Preview of the checkout" aria-live="polite">
      <small>Customer view</small>
      <p>
        <UntrustedText>{workspaceName}</UntrustedText>
      </p>
      <strong className="pm-num">{amount.echo ?? '–'}</strong>
      {draft.description.trim() === '' ? null : (
        <p>
          <UntrustedText>{draft.description.trim()}</UntrustedText>
        </p>
      )}
      {draft.order.trim() === '' ? null : (
        <p>
          Order <UntrustedText mono>{draft.order.trim()}</UntrustedText>
        </p>
      )}
      <small>
        {draft.asset === ''
          ? 'Customer chooses the coin and network.'
          : chosen === undefined
            ? ''
            : `Pays in ${chosen.symbol} on ${chosen.networkName}.`}
      </small>
    </section>
  )
}
