import { Button, Radio, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/trpc.ts'
import { readAmount } from '../../format/amounts.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { VOCABULARY } from '../../parts/status-vocabulary.ts'
import { useMay, useScope } from '../../session/scope.ts'
import type { AttachPlan, ExceptionDetail } from '../money/answers.ts'
import { AttachPreview, mayApply } from '../money/attach-preview.tsx'
import { useAttachPlan } from '../money/use-attach-plan.ts'
import { DECISION_VIEWS } from './decision-views.ts'
import { toBaseUnits } from './to-base-units.ts'

type Choice = 'accepted' | 'attached' | 'rejected' | 'closed'

interface Decision {
  readonly id: string
  readonly choice: Choice
  readonly valueBase?: string
  readonly invoiceId?: string
}

/**
 * The choices with their effects, the reason, and the button. Nothing is sent before it is pressed. Where somebody else decided meanwhile, what was
 * written stays and can be kept as a note.
 */
export function DecideForm({ known }: { readonly known: ExceptionDetail }) {
  const scope = useScope()
  const may = useMay('support')
  const { entry, ways, valueIn } = known
  const options = choicesOf(known)
  const [choice, setChoice] = useState<Choice>(options[0]?.value ?? 'closed')
  const [reason, setReason] = useState('')
  const [value, setValue] = useState('')
  const [number, setNumber] = useState('')
  const { plan, problem, looking, notReturned, setNotReturned, look, clear } = useAttachPlan()
  const decide = useAction({
    call: async (ids, { id, choice: request, valueBase, invoiceId = '' }: Decision) => {
      const action = { ...scope, ...ids, id, reason: ids.reason ?? '' }
      const worth = valueBase === undefined ? {} : { valueBase }
      if (request === 'accepted') return await api.exceptions.accept.mutate({ ...action, ...worth })
      if (request === 'rejected') return await api.exceptions.reject.mutate(action)
      if (request === 'closed') return await api.exceptions.close.mutate({ ...scope, ...ids, id })
      return await api.exceptions.attach.mutate({ ...action, invoiceId, ...worth })
    },
    done: 'Decision saved.',
    refresh: DECISION_VIEWS,
    onDone: () => setReason(''),
  })
  const note = useAction({
    call: (ids, input: { readonly id: string; readonly text: string }) =>
      api.exceptions.note.mutate({ ...scope, ...ids, ...input }),
    done: 'Note saved.',
    refresh: DECISION_VIEWS,
    onDone: () => {
      setReason('')
      decide.clear()
    },
  })
  const isOver = entry.closedAt !== null
  if (isOver && reason === '' && decide.failure === null) return null
  if (!may) return <p className="pm-muted">Requires the Support role.</p>
  const settles = choice === 'accepted' || choice === 'attached'
  const needsValue = settles && valueIn !== null && !isOver
  const valueBase = needsValue ? toBaseUnits(value, valueIn.decimals) : undefined
  const why = reason.trim()
  /** Money is applied to another invoice only after that one was shown. */
  const isPreview = choice === 'attached' && plan === null
  const ready = isPreview
    ? number.trim() !== '' && valueBase !== null
    : (choice === 'closed' || why.length >= 3) &&
      valueBase !== null &&
      (choice !== 'attached' || plan === null || mayApply(plan, notReturned))
  const submit = () => {
    if (!ready || isOver) return
    const worth = typeof valueBase === 'string' ? { valueBase } : {}
    if (isPreview) return void look({ paymentId: known.payment?.id ?? '', number, ...worth })
    const of = choice === 'attached' && plan !== null ? { invoiceId: plan.invoiceId } : {}
    void decide.run({ id: entry.id, choice, ...worth, ...of }, why === '' ? undefined : why)
  }
  return (
    <ActionForm
      action={{ busy: decide.busy || looking, failure: decide.failure ?? note.failure }}
      onSubmit={submit}
      submit={isOver ? null : isPreview ? 'Preview' : buttonLabel(choice, known, ways, plan)}
      disabled={!ready}
      beside={
        <>
          <span className="pm-muted pm-small">
            {isOver ? 'Already decided. You can keep your text as a note.' : 'Nothing happens until you confirm.'}
          </span>
          <Button
            variant="default"
            loading={note.busy}
            disabled={why === ''}
            onClick={() => void note.run({ id: entry.id, text: why })}
          >
            Add note only
          </Button>
        </>
      }
      noValidate
    >
      {isOver ? null : <Choices options={options} choice={choice} onChange={setChoice} />}
      {needsValue ? (
        <TextInput
          label={`Value in ${valueIn.symbol}`}
          description={`The invoice is for ${valueIn.due} ${valueIn.symbol}. Enter what this payment is worth.`}
          inputMode="decimal"
          required
          value={value}
          onChange={({ currentTarget }) => {
            setValue(currentTarget.value)
            clear()
          }}
          error={
            value === ''
              ? decide.failure?.fields['value']
              : (faultOf(value, valueIn.decimals) ?? decide.failure?.fields['value'])
          }
        />
      ) : null}
      {choice === 'attached' && !isOver ? (
        <>
          <TextInput
            label="Invoice number"
            required
            value={number}
            onChange={({ currentTarget }) => {
              setNumber(currentTarget.value)
              clear()
            }}
            error={typeof problem === 'string' ? problem : undefined}
          />
          {typeof problem === 'string' ? null : <ActionFailure failure={problem} />}
          {plan === null ? null : (
            <AttachPreview plan={plan} notReturned={notReturned} onNotReturned={setNotReturned} />
          )}
        </>
      ) : null}
      <Textarea
        data-after-key=""
        label={choice === 'closed' || isOver ? 'Note' : 'Reason'}
        description="Saved in the audit log."
        required={choice !== 'closed' && !isOver}
        {...bindText(reason, setReason)}
        maxLength={500}
        autosize
        minRows={2}
      />
    </ActionForm>
  )
}

interface Option {
  readonly value: Choice
  readonly label: string
  readonly effect: string
}

function Choices(props: {
  readonly options: readonly Option[]
  readonly choice: Choice
  readonly onChange: (choice: Choice) => void
}) {
  return (
    <Radio.Group label="Decision" value={props.choice} onChange={(next) => props.onChange(next as Choice)}>
      <div className="pm-grid pm-gap-top">
        {props.options.map(({ value: option, label, effect }) => (
          <Radio
            key={option}
            value={option}
            label={label}
            description={effect}
            data-key={option === 'accepted' ? 'a' : option === 'rejected' ? 'r' : undefined}
          />
        ))}
      </div>
    </Radio.Group>
  )
}

function choicesOf({ entry, ways, invoice }: ExceptionDetail): readonly Option[] {
  const name = invoice === null ? 'The invoice' : `#${invoice.number}`
  const options: Option[] = []
  if (ways.includes('accepted'))
    options.push({
      value: 'accepted',
      label: 'Accept as paid',
      effect: `${name} becomes paid and invoice.paid is sent.`,
    })
  if (ways.includes('attached'))
    options.push({
      value: 'attached',
      label: 'Apply to another invoice',
      effect: 'That invoice becomes paid and invoice.paid is sent.',
    })
  if (ways.length > 0)
    options.push({
      value: 'rejected',
      label: 'Reject',
      effect: `${invoice === null ? 'It stays unapplied' : `${name} stays ${VOCABULARY.invoice[invoice.status].word.toLowerCase()}`}. Refund the customer from your own wallet.`,
    })
  if (ways.length === 0)
    options.push({
      value: 'closed',
      label: 'Mark as resolved',
      effect: entry.kind === 'over' ? 'You kept or refunded the difference.' : 'Nothing else changes.',
    })
  return options
}

function buttonLabel(
  choice: Choice,
  { payment, invoice }: ExceptionDetail,
  ways: readonly string[],
  plan: AttachPlan | null,
): string {
  const coins = invoice?.coins ?? null
  const sum = payment === null ? coins?.received : payment.amount
  const symbol = payment === null ? coins?.symbol : payment.symbol
  const money = sum === undefined || symbol == null ? 'it' : `${sum} ${symbol}`
  if (choice === 'accepted') return `Accept ${money} as paid`
  if (choice === 'attached') return `Apply ${money}${plan === null ? '' : ` to #${plan.number}`}`
  return choice === 'rejected' && ways.length > 0 ? 'Reject' : 'Mark as resolved'
}

/** What is wrong with a typed value; undefined when nothing is. */
function faultOf(value: string, decimals: number): string | undefined {
  const read = readAmount(value, decimals)
  return 'problem' in read ? read.problem : undefined
}
