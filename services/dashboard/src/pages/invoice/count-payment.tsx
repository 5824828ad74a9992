import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { useRefusal, useScope } from '../../session/scope.ts'
import type { InvoicePayment } from '../money/answers.ts'

const REFRESH = [trpc.invoices.pathFilter(), trpc.payments.pathFilter(), trpc.exceptions.pathFilter()]

/** Counts a payment that is too small to count without a decision. */
export function CountPayment({ payment }: { readonly payment: InvoicePayment }) {
  const scope = useScope()
  const missingRole = useRefusal('support')
  const count = useAction({
    call: (ids, input: { readonly paymentId: string }) =>
      api.payments.count.mutate({ ...scope, ...ids, ...input, reason: ids.reason ?? '' }),
    done: 'Payment applied.',
    refresh: REFRESH,
  })
  const isConfirmed = payment.state === 'confirmed'
  const refusal = isConfirmed ? null : 'You can apply it once it is confirmed.'
  return (
    <ActionButton
      action={count}
      input={{ paymentId: payment.id }}
      size="xs"
      variant="default"
      reason="required"
      refusal={missingRole ?? refusal}
      confirm={`${payment.amount} ${payment.symbol ?? ''} is added to the amount received. The invoice becomes paid only if that covers the amount due. This can’t be undone.`}
    >
      Apply payment
    </ActionButton>
  )
}
