import { type Invoice, type InvoiceRecords, withRecords } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** These invoices with all their payments and refunds, in the same order; two reads, however many they are. */
export async function recordsOfInvoices(
  { paymentLookups, refunds }: Uses<'paymentLookups' | 'refunds'>,
  invoices: readonly Invoice[],
): Promise<readonly InvoiceRecords[]> {
  const ids = invoices.map(({ terms }) => terms.id)
  const [payments, sent] = await Promise.all([paymentLookups.ofInvoices(ids), refunds.ofInvoices(ids)])
  return withRecords(invoices, payments, sent)
}
