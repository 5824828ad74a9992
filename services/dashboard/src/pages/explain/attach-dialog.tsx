import { Button, Modal, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type Failure, failureOf } from '../../api/failure.ts'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Note } from '../../parts/card.tsx'
import { VOCABULARY } from '../../parts/status-vocabulary.ts'
import { useScope } from '../../session/scope.ts'
import type { Attached } from '../money/answers.ts'

/** Gives money to an invoice: first what would become of it, then the deed. */
export function AttachDialog({
  paymentId,
  onClose,
}: {
  readonly paymentId: string | null
  readonly onClose: () => void
}) {
  return (
    <Modal opened={paymentId !== null} onClose={onClose} title="Count it on an invoice">
      {paymentId === null ? null : <Form paymentId={paymentId} onClose={onClose} />}
    </Modal>
  )
}

interface Wish {
  readonly paymentId: string
  readonly invoiceId: string
}

function Form({ paymentId, onClose }: { readonly paymentId: string; readonly onClose: () => void }) {
  const scope = useScope()
  const [number, setNumber] = useState('')
  const [reason, setReason] = useState('')
  const [plan, setPlan] = useState<Attached | null>(null)
  const [problem, setProblem] = useState<Failure | string | null>(null)
  const [looking, setLooking] = useState(false)
  const attach = useDeed({
    call: (ids, wish: Wish) => api.payments.attach.mutate({ ...scope, ...wish, ...ids, reason: ids.reason ?? '' }),
    done: 'Attached and noted.',
    refresh: [trpc.diagnostics.pathFilter(), trpc.invoices.pathFilter(), trpc.exceptions.pathFilter()],
    onDone: onClose,
  })
  const look = async () => {
    setLooking(true)
    setProblem(null)
    setPlan(null)
    try {
      const { items } = await api.invoices.list.query({ ...scope, q: number.trim(), limit: 2 })
      const [invoice] = items
      if (invoice === undefined) setProblem('No invoice has this number.')
      else setPlan(await api.payments.previewAttach.query({ ...scope, paymentId, invoiceId: invoice.id }))
    } catch (error) {
      setProblem(failureOf(error))
    } finally {
      setLooking(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (plan === null) return void look()
    void attach.run({ paymentId, invoiceId: plan.invoiceId }, reason.trim())
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
      {typeof problem === 'string' ? null : <DeedFailure failure={problem} />}
      {plan === null ? null : (
        <>
          <Note tone="pending">
            <p>
              Invoice #{plan.number} goes from {VOCABULARY.invoice[plan.statusBefore].word} to{' '}
              <b>{VOCABULARY.invoice[plan.status].word}</b>
              {plan.underpaidAccepted ? ', with less than asked for' : ''}. Its endpoints are told.
            </p>
          </Note>
          <Textarea
            label="Reason"
            description="Goes to the audit trail."
            required
            value={reason}
            maxLength={500}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </>
      )}
      <DeedFailure failure={attach.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        {plan === null ? (
          <Button type="submit" loading={looking} disabled={number.trim() === ''}>
            Show what happens
          </Button>
        ) : (
          <Button type="submit" loading={attach.busy} disabled={reason.trim().length < 3}>
            Attach to #{plan.number}
          </Button>
        )}
      </div>
    </form>
  )
}
