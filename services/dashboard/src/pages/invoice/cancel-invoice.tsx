import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { useRefusal, useScope } from '../../session/scope.ts'
import type { InvoiceDetail } from '../money/answers.ts'

const REFRESH = [trpc.invoices.pathFilter(), trpc.payments.pathFilter(), trpc.exceptions.pathFilter()]

/** Cancels an invoice that received nothing. */
export function CancelInvoice({ invoice }: { readonly invoice: InvoiceDetail }) {
  const scope = useScope()
  const refusal = useRefusal('support')
  const cancel = useAction({
    call: (ids, input: { readonly id: string }) => api.invoices.cancel.mutate({ ...scope, ...ids, ...input }),
    done: 'Invoice cancelled.',
    refresh: REFRESH,
  })
  return (
    <ActionButton
      action={cancel}
      input={{ id: invoice.id }}
      variant="default"
      reason="optional"
      dismiss="Keep invoice"
      confirmColor="red"
      refusal={refusal ?? invoice.may.cancel}
      confirm="The checkout tells the customer not to pay. If money still arrives, it shows up under Exceptions."
    >
      Cancel invoice
    </ActionButton>
  )
}
