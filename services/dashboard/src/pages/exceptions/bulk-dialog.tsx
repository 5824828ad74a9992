import { Button, Radio, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Note } from '../../parts/card.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Modal } from '../../parts/dialog/loaded-modal.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { WithTimes } from '../../parts/time.tsx'
import { useScope } from '../../session/scope.ts'
import type { BulkPreview } from '../money/answers.ts'
import { DECISION_VIEWS } from './decision-views.ts'

type Decision = BulkPreview['decisions'][number]
type Resolution = Decision['resolution']
interface OpenCase {
  readonly name: string
  readonly message: string
}
interface Outcome {
  readonly sentence: string
  readonly undecided: readonly OpenCase[]
}

const LABELS: Readonly<Record<Resolution, string>> = {
  accepted: 'Accept as paid',
  rejected: 'Reject',
  closed: 'Mark as resolved',
}
const EFFECTS: Readonly<Record<Resolution, string>> = {
  accepted: 'Each invoice becomes paid and invoice.paid is sent.',
  rejected: 'Nothing else changes. Refund the customers from your own wallet.',
  closed: 'Nothing else changes.',
}
const DONE: Readonly<Record<Resolution, string>> = {
  accepted: 'accepted',
  rejected: 'rejected',
  closed: 'marked as resolved',
}

/** Previews a decision about several exceptions, confirms it once, and then shows what was done and what was not. */
export function BulkDialog(props: {
  readonly ids: readonly string[]
  readonly open: boolean
  readonly onClose: () => void
  /** Called with the ids that were decided. */
  readonly onDone: (ids: readonly string[]) => void
}) {
  const scope = useScope()
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const preview = useQuery(
    trpc.exceptions.previewMany.queryOptions(
      { ...scope, ids: [...props.ids] },
      { enabled: props.open && outcome === null && props.ids.length > 0, gcTime: 0, staleTime: 0 },
    ),
  )
  const close = () => {
    setOutcome(null)
    props.onClose()
  }
  const count = props.ids.length
  const title = outcome === null ? `Decide ${count} ${count === 1 ? 'exception' : 'exceptions'}` : 'Result'
  return (
    <Modal opened={props.open} onClose={close} title={title} size="lg">
      {outcome !== null ? (
        <Result outcome={outcome} onClose={close} />
      ) : (
        <QueryView query={preview} what="the preview">
          {(data) => (
            <BulkForm
              preview={data}
              onClose={close}
              onOutcome={(next, ids) => {
                setOutcome(next)
                props.onDone(ids)
              }}
            />
          )}
        </QueryView>
      )}
    </Modal>
  )
}

function BulkForm(props: {
  readonly preview: BulkPreview
  readonly onClose: () => void
  readonly onOutcome: (outcome: Outcome, done: readonly string[]) => void
}) {
  const scope = useScope()
  const { rows, decisions } = props.preview
  const [chosen, setChosen] = useState<Resolution | null>(null)
  const [reason, setReason] = useState('')
  const decision = decisions.find(({ resolution }) => resolution === chosen) ?? firstPossible(decisions)
  const namesOf = (some: Decision['refused']): readonly OpenCase[] =>
    some.map(({ id, message }) => ({ name: nameOf(rows, id), message }))
  const decide = useAction({
    call: (ids, { ids: exceptions, resolution }: { readonly ids: string[]; readonly resolution: Resolution }) =>
      api.exceptions.decideMany.mutate({ ...scope, ...ids, ids: exceptions, resolution }),
    done: ({ done, refused }) => sentenceOf(done.length, refused.length, decision?.resolution ?? 'closed'),
    refresh: DECISION_VIEWS,
    onDone: ({ done, refused }) => {
      if (decision === undefined) return
      const undecided = namesOf([...refused, ...decision.refused])
      props.onOutcome({ sentence: sentenceOf(done.length, undecided.length, decision.resolution), undecided }, done)
    },
  })
  if (decision === undefined) {
    return (
      <div className="pm-stack">
        <p>None of these can be decided together.</p>
        <UndecidedList of={namesOf(decisions[0]?.refused ?? [])} />
        <div className="pm-row pm-end">
          <Button onClick={props.onClose}>Close</Button>
        </div>
      </div>
    )
  }
  const { resolution, possible, refused, needCode } = decision
  const why = reason.trim()
  const ready = resolution === 'closed' || why.length >= 3
  const submit = () => {
    if (ready) void decide.run({ ids: possible, resolution }, why === '' ? undefined : why)
  }
  return (
    <ActionForm
      action={decide}
      onSubmit={submit}
      submit={buttonLabel(resolution, possible.length)}
      onCancel={props.onClose}
      disabled={!ready}
      noValidate
    >
      <Radio.Group label="Decision" value={resolution} onChange={(next) => setChosen(next as Resolution)}>
        <div className="pm-grid pm-gap-top">
          {decisions.map((each) => (
            <Radio
              key={each.resolution}
              value={each.resolution}
              disabled={each.possible.length === 0}
              label={`${LABELS[each.resolution]}: ${each.possible.length} of ${rows.length}`}
              description={each.possible.length === 0 ? 'Possible for none of these.' : EFFECTS[each.resolution]}
            />
          ))}
        </div>
      </Radio.Group>
      <Sums decision={decision} />
      {refused.length === 0 ? null : (
        <section aria-label="Not decided this way" className="pm-stack">
          <p>
            <b>{refused.length}</b> will stay open or as they are:
          </p>
          <UndecidedList of={namesOf(refused)} />
        </section>
      )}
      {needCode === 0 ? null : (
        <Note tone="pending">
          <p>
            {needCode === 1 ? 'One is' : `${needCode} are`} short by more than your workspace’s limit, so you will be
            asked for an authenticator code. Without it nothing is changed.
          </p>
        </Note>
      )}
      <Textarea
        label={resolution === 'closed' ? 'Note' : 'Reason'}
        description="Saved in the audit log with each of them."
        required={resolution !== 'closed'}
        {...bindText(reason, setReason)}
        maxLength={500}
        autosize
        minRows={2}
      />
    </ActionForm>
  )
}

function Sums({ decision: { possible, sums } }: { readonly decision: Decision }) {
  const counted = sums.reduce((total, { count }) => total + count, 0)
  const rest = possible.length - counted
  return (
    <ul aria-label="Sums per coin" className="pm-num">
      {sums.map(({ symbol, networkName, amount, count }) => (
        <li key={`${symbol} ${networkName}`}>
          <CryptoAmount amount={amount} symbol={symbol} /> on {networkName}{' '}
          <span className="pm-muted">
            in {count} {count === 1 ? 'exception' : 'exceptions'}
          </span>
        </li>
      ))}
      {rest === 0 ? null : <li className="pm-muted">{rest} without an amount in a known coin</li>}
    </ul>
  )
}

function UndecidedList({ of }: { readonly of: readonly OpenCase[] }) {
  return (
    <ul aria-label="Not decided">
      {of.map(({ name, message }, index) => (
        // Two may have the same name; the list never changes its order.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={`${index} ${name}`}>
          <b>{name}</b>: <WithTimes text={message} />
        </li>
      ))}
    </ul>
  )
}

function Result({ outcome, onClose }: { readonly outcome: Outcome; readonly onClose: () => void }) {
  const sentence = useRef<HTMLParagraphElement>(null)
  useEffect(() => sentence.current?.focus(), [])
  return (
    <div className="pm-stack">
      <p ref={sentence} tabIndex={-1}>
        {outcome.sentence}
      </p>
      {outcome.undecided.length === 0 ? null : <UndecidedList of={outcome.undecided} />}
      <div className="pm-row pm-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </div>
  )
}

const firstPossible = (decisions: readonly Decision[]) => decisions.find(({ possible }) => possible.length > 0)

function nameOf(rows: BulkPreview['rows'], id: string): string {
  const row = rows.find((each) => each.id === id)
  if (row === undefined) return 'An exception that no longer exists'
  return row.number === null ? row.title : `${row.title} on #${row.number}`
}

function sentenceOf(done: number, not: number, resolution: Resolution): string {
  return not === 0 ? `${done} ${DONE[resolution]}.` : `${done} ${DONE[resolution]}, ${not} not.`
}

function buttonLabel(resolution: Resolution, count: number): string {
  if (resolution === 'accepted') return `Accept ${count} as paid`
  return resolution === 'rejected' ? `Reject ${count}` : `Mark ${count} as resolved`
}
