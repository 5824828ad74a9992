import { Link } from 'react-router'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Money } from '../../parts/money.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import type { Column } from '../../parts/table/column.ts'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import type { useTo } from '../../session/scope.ts'
import type { InvoiceRow } from './answers.ts'

type To = ReturnType<typeof useTo>

/** Where invoices come from, in words. */
export const SOURCES = { api: 'API', link: 'Payment link', manual: 'Created here', billing: 'Billing' } as const

/** The columns of a list of invoices; lists of one customer do without theirs. */
export const invoiceColumns = (to: To, withCustomer = true): readonly Column<InvoiceRow>[] => [
  { header: 'Invoice', namesItself: true, cell: ({ number }) => <b>#{number}</b> },
  {
    header: 'Status',
    namesItself: true,
    cell: ({ status, flags }) => (
      <span className="pm-row">
        <StatusBadge of="invoice" status={status} />
        {flags.map((flag) => (
          <StatusBadge key={flag} of="flag" status={flag} />
        ))}
      </span>
    ),
  },
  { header: 'Amount', align: 'right', cell: ({ amount }) => <Money {...amount} /> },
  {
    header: 'Received',
    cell: ({ coins }) =>
      coins === null ? (
        <span className="pm-dim">–</span>
      ) : (
        <>
          <CryptoAmount
            amount={coins.received === coins.due ? coins.due : `${coins.received} of ${coins.due}`}
            symbol={coins.symbol}
          />
          <div className="pm-dim pm-small">{coins.networkName}</div>
        </>
      ),
  },
  ...(withCustomer ? [customerColumn(to)] : []),
  {
    header: 'Order',
    cell: ({ orderId }) =>
      orderId === null ? (
        <span className="pm-dim">–</span>
      ) : (
        <div className="pm-clip pm-clip-narrow">
          <UntrustedText mono>{orderId}</UntrustedText>
        </div>
      ),
  },
  { header: 'Source', wide: true, cell: ({ source }) => SOURCES[source] },
  { header: 'Created', isOrder: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: 'Next step', namesItself: true, cell: ({ whatNow }) => <span className="pm-muted">{whatNow}</span> },
]

/** Leads to the page of the customer where an e-mail address says which invoices are theirs. */
const customerColumn = (to: To): Column<InvoiceRow> => ({
  header: 'Customer',
  cell: ({ id, customer: { name, email } }) => {
    if (name === null && email === null) return <span className="pm-dim">–</span>
    const shown = <UntrustedText>{name ?? email ?? ''}</UntrustedText>
    return (
      <>
        <div className="pm-clip">{email === null ? shown : <Link to={to('customers', id)}>{shown}</Link>}</div>
        {name === null || email === null ? null : (
          <div className="pm-dim pm-small pm-clip">
            <UntrustedText>{email}</UntrustedText>
          </div>
        )}
      </>
    )
  },
})
