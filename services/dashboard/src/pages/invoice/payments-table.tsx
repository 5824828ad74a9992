import { Link } from 'react-router'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'
import { Time, WithTimes } from '../../parts/time.tsx'
import { useTo } from '../../session/scope.ts'
import type { InvoicePayment } from '../money/answers.ts'
import { CountPayment } from './count-payment.tsx'

/** Every payment of an invoice and whether it counts. */
export function PaymentsTable({ payments }: { readonly payments: readonly InvoicePayment[] }) {
  const to = useTo()
  if (payments.length === 0) return null
  return (
    <ScrollBox label="Payments">
      <table className="pm-table pm-num" aria-label="Payments">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col" className="pm-right">
              Amount
            </th>
            <th scope="col">Transaction</th>
            <th scope="col">Confirmations</th>
            <th scope="col">First seen</th>
          </tr>
        </thead>
        <tbody>
          {payments.map((payment) => (
            <tr key={payment.id}>
              <td data-label="State">
                <span className="pm-row">
                  <StatusBadge of="payment" status={payment.state} />
                  {payment.simulated ? <StatusBadge of="flag" status="simulated" /> : null}
                  {payment.late ? <StatusBadge of="flag" status="paid_late" /> : null}
                  {payment.counted ? null : <ToneBadge tone="partial">Not applied</ToneBadge>}
                </span>
                <p className="pm-small pm-muted">
                  <WithTimes text={payment.words} />
                </p>
                {payment.uncountedReason === 'dust' ? <CountPayment payment={payment} /> : null}
              </td>
              <td className="pm-right" data-label="Amount">
                <CryptoAmount
                  amount={payment.amount}
                  symbol={payment.symbol ?? 'base units'}
                  struck={payment.state !== 'detected' && payment.state !== 'confirmed'}
                />
              </td>
              <td data-label="Transaction">
                {payment.txHash === null ? (
                  <span className="pm-dim">–</span>
                ) : (
                  <span className="pm-row">
                    <CopyText text={payment.txHash} what="transaction" short />
                    <Link to={`${to('explain')}?q=${encodeURIComponent(payment.txHash)}`}>Trace</Link>
                  </span>
                )}
              </td>
              <td data-label="Confirmations">
                {payment.simulated
                  ? '–'
                  : `${Math.min(payment.confirmations, payment.requiredConfirmations)} of ${payment.requiredConfirmations}`}
              </td>
              <td data-label="First seen">
                <Time at={payment.firstSeenAt} detail />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}
