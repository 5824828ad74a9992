import { Link } from 'react-router'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'
import type { Column } from '../../parts/table/column.ts'
import { Time } from '../../parts/time.tsx'
import type { useTo } from '../../session/scope.ts'
import type { PaymentRow } from './answers.ts'

/** What every list of payments shows of one. */
type Transfer = Pick<PaymentRow, 'amount' | 'symbol' | 'state' | 'txHash' | 'simulated' | 'late' | 'counted'>

/** The amount of a payment; one that does not count any more is struck. */
export const amountColumn: Column<Transfer> = {
  header: 'Amount',
  align: 'right',
  cell: ({ amount, symbol, state }) => (
    <CryptoAmount
      amount={amount}
      symbol={symbol ?? 'base units'}
      struck={state !== 'detected' && state !== 'confirmed'}
    />
  ),
}

/** Its transaction, with the way to its trace. */
export const transactionColumn = (to: ReturnType<typeof useTo>): Column<Transfer> => ({
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
})

/** The columns of a list of payments. */
export const paymentColumns = (to: ReturnType<typeof useTo>): readonly Column<PaymentRow>[] => [
  { header: 'Detected', isOrder: true, cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
  { header: 'State', namesItself: true, cell: (row) => <PaymentState row={row} /> },
  amountColumn,
  { header: 'Network', wide: true, cell: ({ networkName }) => networkName },
  {
    header: 'Invoice',
    cell: ({ invoiceId, invoiceNumber }) =>
      invoiceId === null ? (
        <span className="pm-dim">none</span>
      ) : (
        <Link to={to('invoices', invoiceId)}>#{invoiceNumber ?? '?'}</Link>
      ),
  },
  { ...transactionColumn(to), wide: true },
]

/** Its state and its flags. */
export function PaymentState({ row }: { readonly row: Transfer }) {
  return (
    <span className="pm-row">
      <StatusBadge of="payment" status={row.state} />
      {row.simulated ? <StatusBadge of="flag" status="simulated" /> : null}
      {row.late ? <StatusBadge of="flag" status="paid_late" /> : null}
      {row.counted ? null : <ToneBadge tone="partial">Not applied</ToneBadge>}
    </span>
  )
}
