import { Button, Radio, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { useMay, useScope } from '../../session/scope.ts'
import type { ExceptionDetail } from '../money/answers.ts'
import { toBaseUnits } from './to-base-units.ts'

type Choice = 'accepted' | 'attached' | 'rejected' | 'closed'

interface Decision {
  readonly id: string
  readonly choice: Choice
  readonly valueBase?: string
  readonly number?: string
}

const REFRESH = [
  trpc.exceptions.pathFilter(),
  trpc.invoices.pathFilter(),
  trpc.payments.pathFilter(),
  trpc.overview.pathFilter(),
]

/** The choices, what each does, the reason, and the button that says it. Nothing is sent before it. */
export function DecideForm({ known }: { readonly known: ExceptionDetail }) {
  const scope = useScope()
  const may = useMay('support')
  const { entry, ways, valueIn } = known
  const options = choicesOf(known)
  const [choice, setChoice] = useState<Choice>(options[0]?.value ?? 'closed')
  const [reason, setReason] = useState('')
  const [value, setValue] = useState('')
  const [number, setNumber] = useState('')
  const decide = useDeed({
    call: async (ids, { id, choice: wish, valueBase, number: of }: Decision) => {
      const deed = { ...scope, ...ids, id, reason: ids.reason ?? '' }
      const worth = valueBase === undefined ? {} : { valueBase }
      if (wish === 'accepted') return await api.exceptions.accept.mutate({ ...deed, ...worth })
      if (wish === 'rejected') return await api.exceptions.reject.mutate(deed)
      if (wish === 'closed') return await api.exceptions.close.mutate({ ...scope, ...ids, id })
      const found = await api.invoices.list.query({ ...scope, q: of ?? '', limit: 2 })
      const [invoice] = found.items
      if (invoice === undefined) throw new Error('no such invoice')
      return await api.exceptions.attach.mutate({ ...deed, invoiceId: invoice.id, ...worth })
    },
    done: 'Decided and noted.',
    refresh: REFRESH,
    onDone: () => setReason(''),
  })
  const note = useDeed({
    call: (ids, input: { readonly id: string; readonly text: string }) =>
      api.exceptions.note.mutate({ ...scope, ...ids, ...input }),
    done: 'Noted.',
    refresh: REFRESH,
    onDone: () => setReason(''),
  })
  if (entry.closedAt !== null) return null
  if (!may) return <p className="pm-muted">To decide, the role support is needed.</p>
  const settles = choice === 'accepted' || choice === 'attached'
  const needsValue = settles && valueIn !== null
  const valueBase = needsValue ? toBaseUnits(value, valueIn.decimals) : undefined
  const why = reason.trim()
  const ready =
    (choice === 'closed' || why.length >= 3) && valueBase !== null && (choice !== 'attached' || number.trim() !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!ready) return
    const worth = typeof valueBase === 'string' ? { valueBase } : {}
    const of = choice === 'attached' ? { number: number.trim() } : {}
    void decide.run({ id: entry.id, choice, ...worth, ...of }, why === '' ? undefined : why)
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <Radio.Group label="Decide" value={choice} onChange={(next) => setChoice(next as Choice)}>
        <div className="pm-grid pm-gap-top">
          {options.map(({ value: option, label, effect }) => (
            <Radio key={option} value={option} label={label} description={effect} />
          ))}
        </div>
      </Radio.Group>
      {needsValue ? (
        <TextInput
          label={`Worth in ${valueIn.symbol}`}
          description={`The invoice asks for ${valueIn.due} ${valueIn.symbol}. Say what this money counts for.`}
          inputMode="decimal"
          required
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
          error={
            value !== '' && valueBase === null ? 'Write a number such as 249.85.' : decide.failure?.fields['value']
          }
        />
      ) : null}
      {choice === 'attached' ? (
        <TextInput
          label="Invoice number"
          required
          value={number}
          onChange={({ currentTarget }) => setNumber(currentTarget.value)}
        />
      ) : null}
      <Textarea
        label={choice === 'closed' ? 'Note' : 'Reason'}
        description="Kept in the audit log."
        required={choice !== 'closed'}
        value={reason}
        maxLength={500}
        autosize
        minRows={2}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <DeedFailure failure={decide.failure ?? note.failure} />
      <div className="pm-row pm-end">
        <span className="pm-muted pm-small">Nothing is sent until you confirm.</span>
        <Button
          variant="default"
          loading={note.busy}
          disabled={why === ''}
          onClick={() => void note.run({ id: entry.id, text: why })}
        >
          Add note only
        </Button>
        <Button type="submit" loading={decide.busy} disabled={!ready}>
          {buttonWord(choice, known, ways)}
        </Button>
      </div>
    </form>
  )
}

interface Option {
  readonly value: Choice
  readonly label: string
  readonly effect: string
}

function choicesOf({ entry, ways, invoice }: ExceptionDetail): readonly Option[] {
  const name = invoice === null ? 'The invoice' : `#${invoice.number}`
  const options: Option[] = []
  if (ways.includes('accepted'))
    options.push({
      value: 'accepted',
      label: 'Accept as paid',
      effect: `${name} becomes paid and its endpoints get invoice.paid.`,
    })
  if (ways.includes('attached'))
    options.push({
      value: 'attached',
      label: 'Attach to an invoice',
      effect: 'It counts there as full payment and the endpoints get invoice.paid.',
    })
  if (ways.length > 0)
    options.push({
      value: 'rejected',
      label: 'Reject',
      effect: `${invoice === null ? 'It stays uncounted' : `${name} stays ${invoice.status}`}. You return the money from your own wallet.`,
    })
  if (ways.length === 0)
    options.push({
      value: 'closed',
      label: 'Close',
      effect:
        entry.kind === 'over' ? 'You keep or returned the difference.' : 'It was dealt with. Nothing else changes.',
    })
  return options
}

function buttonWord(choice: Choice, { payment, invoice }: ExceptionDetail, ways: readonly string[]): string {
  const coins = invoice?.coins ?? null
  const sum = payment === null ? coins?.received : payment.amount
  const symbol = payment === null ? coins?.symbol : payment.symbol
  const money = sum === undefined || symbol == null ? 'it' : `${sum} ${symbol}`
  if (choice === 'accepted') return `Accept ${money} as paid`
  if (choice === 'attached') return `Attach ${money}`
  return choice === 'rejected' && ways.length > 0 ? 'Reject' : 'Close'
}
