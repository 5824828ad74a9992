import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { useMay, useScope } from '../../session/scope.ts'
import type { InvoicePayment } from '../money/answers.ts'

const REFRESH = [trpc.invoices.pathFilter(), trpc.payments.pathFilter(), trpc.exceptions.pathFilter()]

/** Counts a payment that is too small to count without a person's word. */
export function CountPayment({ payment }: { readonly payment: InvoicePayment }) {
  const scope = useScope()
  const may = useMay('support')
  const count = useDeed({
    call: (ids, input: { readonly paymentId: string }) =>
      api.payments.count.mutate({ ...scope, ...ids, ...input, reason: ids.reason ?? '' }),
    done: 'Counted.',
    refresh: REFRESH,
  })
  const isConfirmed = payment.state === 'confirmed'
  const refusal = isConfirmed ? null : 'It can be counted once it is confirmed.'
  return (
    <DeedButton
      deed={count}
      input={{ paymentId: payment.id }}
      size="xs"
      variant="default"
      reason="required"
      refusal={may ? refusal : 'This needs the role support.'}
      confirm={`${payment.amount} ${payment.symbol ?? ''} is added to what was received. The invoice is not settled by it unless that is enough. It cannot be undone.`}
    >
      Count this payment
    </DeedButton>
  )
}
