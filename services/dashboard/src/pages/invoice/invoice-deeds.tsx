import { api, trpc } from '../../api/trpc.ts'
import { DeedButton, DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card } from '../../parts/card.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import type { InvoiceDetail } from '../money/answers.ts'

const REFRESH = [trpc.invoices.pathFilter(), trpc.payments.pathFilter(), trpc.exceptions.pathFilter()]

/** Ends an invoice that received nothing. */
export function CancelInvoice({ invoice }: { readonly invoice: InvoiceDetail }) {
  const scope = useScope()
  const may = useMay('support')
  const cancel = useDeed({
    call: (ids, input: { readonly id: string }) => api.invoices.cancel.mutate({ ...scope, ...ids, ...input }),
    done: 'Cancelled.',
    refresh: REFRESH,
  })
  return (
    <DeedButton
      deed={cancel}
      input={{ id: invoice.id }}
      variant="default"
      reason="optional"
      refusal={may ? invoice.may.cancel : 'This needs the role support.'}
      confirm="The payer is told not to send anything. Money that comes all the same waits in the inbox."
    >
      Cancel invoice
    </DeedButton>
  )
}

const SCENARIOS = [
  { scenario: 'paid', label: 'Simulate payment' },
  { scenario: 'partial', label: 'Pay half' },
  { scenario: 'overpaid', label: 'Pay too much' },
  { scenario: 'expired', label: 'Let it expire' },
] as const

/** Plays what payers do, in test mode only. */
export function SimulateButtons({ invoice }: { readonly invoice: InvoiceDetail }) {
  const scope = useScope()
  const may = useMay('support')
  const simulate = useDeed({
    call: (ids, input: { readonly id: string; readonly scenario: (typeof SCENARIOS)[number]['scenario'] }) =>
      api.invoices.simulate.mutate({ ...scope, ...ids, ...input }),
    refresh: REFRESH,
  })
  const refusal = may ? invoice.may.simulate : 'This needs the role support.'
  const open = SCENARIOS.map(({ scenario, label }) => (
    <DeedButton
      key={scenario}
      deed={{ ...simulate, failure: null }}
      input={{ id: invoice.id, scenario }}
      size="xs"
      variant="default"
      refusal={refusal}
    >
      {label}
    </DeedButton>
  ))
  return (
    <Card className="pm-simulate">
      <div className="pm-row">
        <span className="pm-muted">Test invoice: no money moves.</span>
        {open}
      </div>
      <DeedFailure failure={simulate.failure} />
    </Card>
  )
}
