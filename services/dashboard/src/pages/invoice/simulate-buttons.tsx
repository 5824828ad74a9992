import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card } from '../../parts/card.tsx'
import { useRefusal, useScope } from '../../session/scope.ts'
import type { InvoiceDetail } from '../money/answers.ts'

const REFRESH = [trpc.invoices.pathFilter(), trpc.payments.pathFilter(), trpc.exceptions.pathFilter()]

const SCENARIOS = [
  { scenario: 'paid', label: 'Full payment' },
  { scenario: 'partial', label: 'Partial payment' },
  { scenario: 'overpaid', label: 'Overpayment' },
  { scenario: 'expired', label: 'Expiry' },
] as const

/** Simulates payments, in test mode only. */
export function SimulateButtons({ invoice }: { readonly invoice: InvoiceDetail }) {
  const scope = useScope()
  const simulate = useAction({
    call: (ids, input: { readonly id: string; readonly scenario: (typeof SCENARIOS)[number]['scenario'] }) =>
      api.invoices.simulate.mutate({ ...scope, ...ids, ...input }),
    refresh: REFRESH,
  })
  const refusal = useRefusal('support', 'restricted') ?? invoice.may.simulate
  const open = SCENARIOS.map(({ scenario, label }) => (
    <ActionButton
      key={scenario}
      action={{ ...simulate, failure: null }}
      input={{ id: invoice.id, scenario }}
      size="xs"
      variant="default"
      refusal={refusal}
    >
      {label}
    </ActionButton>
  ))
  return (
    <Card className="pm-simulate">
      <div className="pm-row">
        <span className="pm-muted">Simulate:</span>
        {open}
      </div>
      <ActionFailure failure={simulate.failure} />
    </Card>
  )
}
