import type { ComponentType } from 'react'
import { CardTable } from '../../parts/table/card-table.tsx'
import type { Column } from '../../parts/table/column.ts'
import { Time, WithTimes } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useTo } from '../../session/scope.ts'
import type { InvoicePayment } from '../money/answers.ts'
import { amountColumn, PaymentState, transactionColumn } from '../money/payment-columns.tsx'

/** Every payment of an invoice and whether it counts. */
export function PaymentsTable({ payments }: { readonly payments: readonly InvoicePayment[] }) {
  const to = useTo()
  const CountPayment = useLoaded(
    payments.some(({ uncountedReason }) => uncountedReason === 'dust'),
    async () => (await import('./count-payment.tsx')).CountPayment,
  )
  if (payments.length === 0) return null
  return <CardTable label="Payments" columns={columns(to, CountPayment)} rows={payments} keyOf={({ id }) => id} />
}

const columns = (
  to: ReturnType<typeof useTo>,
  CountPayment: ComponentType<{ readonly payment: InvoicePayment }> | null,
): readonly Column<InvoicePayment>[] => [
  {
    header: 'State',
    namesItself: true,
    cell: (payment) => (
      <>
        <PaymentState row={payment} />
        <p className="pm-small pm-muted">
          <WithTimes text={payment.words} />
        </p>
        {payment.uncountedReason === 'dust' && CountPayment !== null ? <CountPayment payment={payment} /> : null}
      </>
    ),
  },
  amountColumn,
  transactionColumn(to),
  {
    header: 'Confirmations',
    cell: ({ simulated, confirmations, requiredConfirmations }) =>
      simulated ? '–' : `${Math.min(confirmations, requiredConfirmations)} of ${requiredConfirmations}`,
  },
  { header: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} detail /> },
]
