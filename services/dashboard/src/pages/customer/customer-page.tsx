import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { revealHidden } from '../../format/reveal-hidden.ts'
import { Card } from '../../parts/card.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Money } from '../../parts/money.tsx'
import { Page } from '../../parts/page.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { CardTable } from '../../parts/table/card-table.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import type { Customer } from '../money/answers.ts'
import { invoiceColumns } from '../money/invoice-columns.tsx'
import { paymentColumns } from '../money/payment-columns.tsx'
import '../money/money.css'

/** A customer: who they are, what they paid, their invoices and payments. The address names one of their invoices, never the person. */
export function CustomerPage() {
  const scope = useScope()
  const { id = '' } = useParams()
  const customer = useQuery(trpc.customers.get.queryOptions({ ...scope, id }))
  return (
    <QueryView query={customer} what="this customer" title="Customer">
      {(data) => <Loaded id={id} customer={data} />}
    </QueryView>
  )
}

function Loaded({ id, customer }: { readonly id: string; readonly customer: Customer }) {
  const to = useTo()
  const { email, name, totals } = customer
  return (
    <Page
      title={revealHidden(name ?? email ?? 'Customer')}
      documentTitle="Customer"
      beside={
        name === null || email === null ? undefined : (
          <span className="pm-muted">
            <UntrustedText>{email}</UntrustedText>
          </span>
        )
      }
    >
      {totals === null ? (
        <Card>
          <EmptyState
            title="There is no email address on this invoice."
            text="Invoices are matched to a customer by email address. It was not given, or it was erased."
          >
            <Link to={to('invoices', id)}>Invoice #{customer.number}</Link>
          </EmptyState>
        </Card>
      ) : (
        <div className="pm-stack">
          <Totals totals={totals} />
          <CustomerLists id={id} />
        </div>
      )}
    </Page>
  )
}

function Totals({ totals }: { readonly totals: NonNullable<Customer['totals']> }) {
  const { invoices, complete, currencies, coins } = totals
  return (
    <Card title="Totals">
      <p className="pm-muted pm-small">
        {complete
          ? `All ${showCount(invoices)} ${invoices === 1 ? 'invoice' : 'invoices'} with this email address.`
          : `The newest ${showCount(invoices)} invoices with this email address. There are more.`}{' '}
        Price, short and excess are of paid invoices; received is what came and counts, at the price’s rate, less what a
        reorganization took back.
      </p>
      <CardTable
        label="totals by currency"
        columns={CURRENCY_COLUMNS}
        rows={currencies}
        keyOf={({ currency }) => currency}
      />
      {coins.length === 0 ? null : (
        <ul className="pm-plain-list" aria-label="received by coin">
          {coins.map(({ asset, symbol, networkName, confirmed, refunded, invoices: count }) => (
            <li key={asset}>
              <CryptoAmount amount={confirmed} symbol={symbol} />{' '}
              <span className="pm-dim">
                received on {networkName} for {showCount(count)} {count === 1 ? 'invoice' : 'invoices'}
                {refunded === null ? '' : `, ${refunded} ${symbol} refunded`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

type CurrencyRow = NonNullable<Customer['totals']>['currencies'][number]

const CURRENCY_COLUMNS: readonly Column<CurrencyRow>[] = [
  { header: 'Currency', isRowHeader: true, namesItself: true, cell: ({ currency }) => currency },
  {
    header: 'Invoiced',
    align: 'right',
    cell: ({ currency, count, amount }) => (
      <>
        <Money value={amount} currency={currency} /> <span className="pm-dim">in {showCount(count)}</span>
      </>
    ),
  },
  {
    header: 'Price of paid',
    align: 'right',
    cell: ({ currency, paidCount, price }) => (
      <>
        <Money value={price} currency={currency} /> <span className="pm-dim">in {showCount(paidCount)}</span>
      </>
    ),
  },
  amountColumn('Received', ({ received }) => received),
  amountColumn('Short', ({ short }) => short),
  amountColumn('Excess', ({ excess }) => excess),
  amountColumn('Refunded', ({ refunded }) => refunded),
]

function amountColumn(header: string, of: (row: CurrencyRow) => string): Column<CurrencyRow> {
  return {
    header,
    align: 'right',
    cell: (row) =>
      Number(of(row)) === 0 ? <span className="pm-dim">–</span> : <Money value={of(row)} currency={row.currency} />,
  }
}

function CustomerLists({ id }: { readonly id: string }) {
  const scope = useScope()
  const to = useTo()
  const pages = useCursorPages()
  const list = useQuery(
    trpc.customers.invoices.queryOptions(
      { ...scope, id, limit: 25, cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  return (
    <>
      <section aria-label="Invoices" className="pm-stack">
        <h2>Invoices</h2>
        <DataTable
          what="invoices"
          columns={invoiceColumns(to, false)}
          query={list}
          rows={list.data?.items}
          idOf={(row) => row.id}
          to={(row) => to('invoices', row.id)}
          pages={pages}
          nextCursor={list.data?.nextCursor}
          empty={<EmptyState title="No invoices." />}
        />
      </section>
      <section aria-label="Payments" className="pm-stack">
        <h2>Payments</h2>
        <DataTable
          what="payments"
          columns={paymentColumns(to)}
          query={list}
          rows={list.data?.payments}
          idOf={(row) => row.id}
          foot="Of the invoices above"
          empty={<EmptyState title="No payments for these invoices." />}
        />
      </section>
    </>
  )
}
