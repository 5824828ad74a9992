import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { useScope } from '../../session/scope.ts'
import { AttachPreview, mayApply } from '../money/attach-preview.tsx'
import { useAttachPlan } from '../money/use-attach-plan.ts'

/** Applies money to an invoice: first a preview, then the action. */
export function AttachDialog(props: {
  readonly open: boolean
  readonly paymentId: string | null
  readonly onClose: () => void
}) {
  const { open, paymentId, onClose } = props
  return (
    <Modal opened={open} onClose={onClose} title="Apply to an invoice">
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
  const { plan, problem, looking, notReturned, setNotReturned, look, clear } = useAttachPlan()
  const attach = useAction({
    call: (ids, request: Request) =>
      api.payments.attach.mutate({ ...scope, ...request, ...ids, reason: ids.reason ?? '' }),
    done: 'Payment applied.',
    refresh: [trpc.diagnostics.pathFilter(), trpc.invoices.pathFilter(), trpc.exceptions.pathFilter()],
    onDone: onClose,
  })
  const submit = () => {
    if (plan === null) return void look({ paymentId, number })
    const said = notReturned ? { notReturned } : {}
    void attach.run({ paymentId, invoiceId: plan.invoiceId, ...said }, reason.trim())
  }
  return (
    <ActionForm
      action={{ busy: attach.busy || looking, failure: attach.failure }}
      onSubmit={submit}
      submit={plan === null ? 'Preview' : `Apply to #${plan.number}`}
      disabled={plan === null ? number.trim() === '' : reason.trim().length < 3 || !mayApply(plan, notReturned)}
      onCancel={onClose}
      noValidate
    >
      <TextInput
        label="Invoice number"
        required
        value={number}
        onChange={({ currentTarget }) => {
          setNumber(currentTarget.value)
          clear()
        }}
        error={typeof problem === 'string' ? problem : undefined}
        data-autofocus
      />
      {typeof problem === 'string' ? null : <ActionFailure failure={problem} />}
      {plan === null ? null : (
        <>
          <AttachPreview plan={plan} notReturned={notReturned} onNotReturned={setNotReturned} />
          <Textarea
            label="Reason"
            description="Saved in the audit log."
            required
            {...bindText(reason, setReason)}
            maxLength={500}
          />
        </>
      )}
    </ActionForm>
  )
}
