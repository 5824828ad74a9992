import { Button, Checkbox, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type Failure, failureOf, PageFailure } from '../../api/failure.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Note } from '../../parts/card.tsx'
import { Modal } from '../../parts/modal.tsx'
import { VOCABULARY } from '../../parts/status-vocabulary.ts'
import { Time } from '../../parts/time.tsx'
import { useScope } from '../../session/scope.ts'
import type { Attached } from '../money/answers.ts'
import { invoiceOfNumber } from '../money/invoice-of-number.ts'

/** Applies money to an invoice: first a preview, then the action. */
export function AttachDialog({
  paymentId,
  onClose,
}: {
  readonly paymentId: string | null
  readonly onClose: () => void
}) {
  return (
    <Modal opened={paymentId !== null} onClose={onClose} title="Apply to an invoice">
      {paymentId === null ? null : <Form paymentId={paymentId} onClose={onClose} />}
    </Modal>
  )
}

interface Request {
  readonly paymentId: string
  readonly invoiceId: string
  readonly notReturned?: true
}

function Form({ paymentId, onClose }: { readonly paymentId: string; readonly onClose: () => void }) {
  const scope = useScope()
  const [number, setNumber] = useState('')
  const [reason, setReason] = useState('')
  const [plan, setPlan] = useState<Attached | null>(null)
  const [problem, setProblem] = useState<Failure | string | null>(null)
  const [looking, setLooking] = useState(false)
  const [notReturned, setNotReturned] = useState(false)
  const attach = useAction({
    call: (ids, request: Request) =>
      api.payments.attach.mutate({ ...scope, ...request, ...ids, reason: ids.reason ?? '' }),
    done: 'Payment applied.',
    refresh: [trpc.diagnostics.pathFilter(), trpc.invoices.pathFilter(), trpc.exceptions.pathFilter()],
    onDone: onClose,
  })
  const look = async () => {
    setLooking(true)
    setProblem(null)
    setPlan(null)
    setNotReturned(false)
    try {
      const invoiceId = await invoiceOfNumber(scope, number)
      setPlan(await api.payments.previewAttach.query({ ...scope, paymentId, invoiceId }))
    } catch (error) {
      setProblem(error instanceof PageFailure ? error.message : failureOf(error))
    } finally {
      setLooking(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (plan === null) return void look()
    const said = notReturned ? { notReturned } : {}
    void attach.run({ paymentId, invoiceId: plan.invoiceId, ...said }, reason.trim())
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <TextInput
        label="Invoice number"
        required
        value={number}
        onChange={({ currentTarget }) => {
          setNumber(currentTarget.value)
          setPlan(null)
        }}
        error={typeof problem === 'string' ? problem : undefined}
        data-autofocus
      />
      {typeof problem === 'string' ? null : <ActionFailure failure={problem} />}
      {plan === null ? null : (
        <>
          <Note tone="pending">
            <p>
              Invoice #{plan.number} changes from {VOCABULARY.invoice[plan.statusBefore].word} to{' '}
              <b>{VOCABULARY.invoice[plan.status].word}</b>
              {plan.underpaidAccepted ? '(amount below the price)' : ''}. Webhooks are sent.
            </p>
          </Note>
          {plan.rejected === null ? null : (
            <Note tone="danger">
              <p>
                {plan.rejected.by} rejected this payment at <Time at={plan.rejected.at} />. If it was returned to the
                customer, do not apply it.
              </p>
              <Checkbox
                className="pm-gap-top"
                label="It was not returned, and will not be"
                checked={notReturned}
                onChange={({ currentTarget }) => setNotReturned(currentTarget.checked)}
              />
            </Note>
          )}
          <Textarea
            label="Reason"
            description="Saved in the audit log."
            required
            value={reason}
            maxLength={500}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </>
      )}
      <ActionFailure failure={attach.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        {plan === null ? (
          <Button type="submit" loading={looking} disabled={number.trim() === ''}>
            Preview
          </Button>
        ) : (
          <Button
            type="submit"
            loading={attach.busy}
            disabled={reason.trim().length < 3 || (plan.rejected !== null && !notReturned)}
          >
            Apply to #{plan.number}
          </Button>
        )}
      </div>
    </form>
  )
}
