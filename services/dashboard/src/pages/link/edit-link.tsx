import { Button, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { useScope } from '../../session/scope.ts'
import { LinkLimitFields, localMinute, readLimits, usesProblem } from '../links/link-limit-fields.tsx'
import { AmountField, useAmount } from '../money/amount-field.tsx'
import type { LinkRow } from '../money/answers.ts'

/** The form that changes a link. */
export function EditLink(props: { readonly link: LinkRow; readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Edit payment link">
      {props.open ? <Form link={props.link} onClose={props.onClose} /> : null}
    </Modal>
  )
}

type Request = Omit<Parameters<typeof api.paymentLinks.update.mutate>[0], 'workspaceId' | 'mode' | 'opId' | 'reason'>

function Form({ link, onClose }: { readonly link: LinkRow; readonly onClose: () => void }) {
  const scope = useScope()
  // What the form began with. It follows the link only after a conflict was shown, so that nothing is overwritten unseen.
  const [seen, setSeen] = useState(link)
  const [title, setTitle] = useState(link.title)
  const [description, setDescription] = useState(link.description ?? '')
  const [limits, setLimits] = useState(() => ({
    uses: link.max_uses === null ? '' : String(link.max_uses),
    end: link.expires_at === null ? '' : localMinute(link.expires_at),
  }))
  const amount = useAmount(link.currency, link.amount)
  const least = useAmount(link.currency, link.min_amount)
  const most = useAmount(link.currency, link.max_amount)
  const action = useAction({
    call: (ids, input: Request) => api.paymentLinks.update.mutate({ ...scope, ...ids, ...input }),
    done: 'Payment link saved.',
    refresh: [trpc.paymentLinks.pathFilter()],
    onDone: onClose,
  })
  const fields = action.failure?.fields ?? {}
  const isOld = link.updated_at !== seen.updated_at
  const terms = (): Partial<Request['link']> | null => {
    if (!link.allow_custom_amount) {
      const value = amount.read()
      return value === null ? null : { amount: value }
    }
    const bounds = [least, most].map((one) => (one.typed === '' ? undefined : one.read()))
    if (bounds.includes(null)) return null
    const [min, max] = bounds
    return { ...(typeof min === 'string' && { min_amount: min }), ...(typeof max === 'string' && { max_amount: max }) }
  }
  const submit = () => {
    const price = terms()
    if (price === null) return
    const text = description.trim()
    // An end that nobody touched is sent as it is stored: the field has only minutes.
    const { expires_at: end } = seen
    const sameEnd = end !== null && limits.end === localMinute(end) ? { expires_at: end } : {}
    void action.run({
      ...{ id: link.id, version: Date.parse(seen.updated_at) },
      link: {
        title: title.trim(),
        ...(text !== '' && { description: text }),
        ...price,
        ...readLimits(limits),
        ...sameEnd,
      },
    })
  }
  return (
    <ActionForm
      action={action}
      onSubmit={submit}
      submit="Save"
      onCancel={onClose}
      disabled={isOld || usesProblem(limits.uses) !== null || title.trim() === ''}
      beside={
        isOld ? (
          <Button
            variant="default"
            onClick={() => {
              setSeen(link)
              action.clear()
            }}
          >
            Keep mine
          </Button>
        ) : null
      }
      noValidate
    >
      <p className="pm-muted">Invoices that exist keep their title and amount.</p>
      <TextInput
        label="Title"
        description="Shown to customers."
        required
        {...bindText(title, setTitle)}
        maxLength={200}
        error={fields['title']}
        data-autofocus
      />
      <Textarea
        label="Description (optional)"
        {...bindText(description, setDescription)}
        maxLength={500}
        error={fields['description']}
      />
      {link.allow_custom_amount ? (
        <>
          <AmountField label={`Minimum in ${link.currency} (optional)`} amount={least} problem={fields['min_amount']} />
          <AmountField label={`Maximum in ${link.currency} (optional)`} amount={most} problem={fields['max_amount']} />
        </>
      ) : (
        <AmountField label={`Amount in ${link.currency}`} amount={amount} problem={fields['amount']} required />
      )}
      <LinkLimitFields limits={limits} onChange={setLimits} fields={fields} held={heldWords(link, limits.uses)} />
      {isOld ? <CurrentTerms link={link} /> : null}
    </ActionForm>
  )
}

/** What somebody else saved while the form was open. */
function CurrentTerms({ link }: { readonly link: LinkRow }) {
  const { amount, min_amount: least, max_amount: most, currency, max_uses: uses, expires_at: end } = link
  const price = amount ?? `${least ?? '0'} – ${most ?? 'any'}`
  const rest = [
    `${price} ${currency}`,
    uses === null ? 'any number of payments' : `${showCount(uses)} payments`,
    end === null ? 'no end' : `ends ${new Date(end).toLocaleString()}`,
  ]
  return (
    <p className="pm-small" role="status">
      Changed meanwhile. Now stored: “{link.title}”, {rest.join(', ')}. <strong>Keep mine</strong> lets you replace it.
    </p>
  )
}

/** What the number of payments means for those who have a place already; null when nobody has one. */
function heldWords({ uses, uses_taken: taken, max_uses: before }: LinkRow, typed: string): string | null {
  if (before === null)
    return uses === 0 ? null : `Counted from now on: the invoices made so far (${showCount(uses)}) take no place.`
  if (taken === null || taken === 0) return null
  const most = Number(typed)
  return typed.trim() !== '' && most < taken
    ? `${showCount(taken)} places are taken and stay taken. No new payments until fewer than ${showCount(most)} are.`
    : `${showCount(taken)} taken so far. A customer who does not pay in time frees the place.`
}
