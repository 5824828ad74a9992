import type { Invoice } from './invoices.ts'
import type { Payment } from './payments.ts'
import type { Refund } from './refunds.ts'

/** An invoice with everything that its books follow from. */
export interface InvoiceRecords {
  readonly invoice: Invoice
  readonly payments: readonly Payment[]
  readonly refunds: readonly Refund[]
}

/** Invoices with those of these payments and refunds that are theirs, in the same order. */
export function withRecords(
  invoices: readonly Invoice[],
  payments: readonly Payment[],
  refunds: readonly Refund[],
): readonly InvoiceRecords[] {
  const records = new Map(
    invoices.map((invoice) => [invoice.terms.id, { invoice, payments: [] as Payment[], refunds: [] as Refund[] }]),
  )
  for (const payment of payments) records.get(payment.invoiceId ?? '')?.payments.push(payment)
  for (const refund of refunds) records.get(refund.invoiceId)?.refunds.push(refund)
  return [...records.values()]
}
