import type { ComponentType } from 'react'
import { Link } from 'react-router'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'
import { CardTable } from '../../parts/table/card-table.tsx'
import type { Column } from '../../parts/table/column.ts'
import { Time, WithTimes } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useTo } from '../../session/scope.ts'
import type { InvoicePayment } from '../money/answers.ts'

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
        <span className="pm-row">
          <StatusBadge of="payment" status={payment.state} />
          {payment.simulated ? <StatusBadge of="flag" status="simulated" /> : null}
          {payment.late ? <StatusBadge of="flag" status="paid_late" /> : null}
          {payment.counted ? null : <ToneBadge tone="partial">Not applied</ToneBadge>}
        </span>
        <p className="pm-small pm-muted">
          <WithTimes text={payment.words} />
        </p>
        {payment.uncountedReason === 'dust' && CountPayment !== null ? <CountPayment payment={payment} /> : null}
      </>
    ),
  },
  {
    header: 'Amount',
    align: 'right',
    cell: ({ amount, symbol, state }) => (
      <CryptoAmount
        amount={amount}
        symbol={symbol ?? 'base units'}
        struck={state !== 'detected' && state !== 'confirmed'}
      />
    ),
  },
  {
    header: 'Transaction',
    cell: ({ txHash }) =>
      txHash === null ? (
        <span className="pm-dim">–</span>
      ) : (
        <span className="pm-row">
          <CopyText text={txHash} what="transaction" short />
          <Link to={`${to('explain')}?q=${encodeURIComponent(txHash)}`}>Trace</Link>
        </span>
      ),
  },
  {
    header: 'Confirmations',
    cell: ({ simulated, confirmations, requiredConfirmations }) =>
      simulated ? '–' : `${Math.min(confirmations, requiredConfirmations)} of ${requiredConfirmations}`,
  },
  { header: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} detail /> },
]
