import { csvLine } from '#shared/contracts/csv.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type Ms } from '#shared/domain/invoice/model.ts'
import { isLive, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'
import { reportedMinor } from '#shared/domain/reports/reporting-value.ts'
import type { InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Invoices held in memory at once, with their payments. */
const BATCH = 500

/** Dependencies of exporting. */
export type ExportInvoicesDeps = Uses<'paymentLookups'> & {
  readonly lookups: Pick<InvoiceLookups, 'page'>
  readonly networkName: (network: NetworkId) => string
}

const COLUMNS = [
  'invoice_id',
  'invoice_number',
  'status',
  'paid_late',
  'accepted_short',
  'simulated',
  'order_id',
  'description',
  'source',
  'customer_email',
  'customer_name',
  'currency',
  'amount',
  'reporting_currency',
  'reporting_rate',
  'reporting_amount',
  'asset',
  'network',
  'address',
  'rate_at_quote',
  'crypto_amount_due',
  'crypto_amount_received',
  'crypto_amount_confirmed',
  'payments',
  'tx_hashes',
  'created_at',
  'expires_at',
  'paid_at',
  'updated_at',
] as const

/**
 * The lines of a CSV file of invoices, newest first, heading first: the same invoices as a list with the same query, paid or not.
 * Only one batch is in memory at a time and the next is read after this one was consumed, so that any number can be exported. Times are
 * ISO 8601, UTC; amounts plain decimals in units of the currency or the coin. `onRows` is called with the number of rows of a batch before
 * it is yielded. `tx_hashes` contains the transactions that count
 * and still exist, oldest first, with spaces between.
 */
export async function* exportInvoices(
  deps: ExportInvoicesDeps,
  query: Omit<InvoicePageQuery, 'limit' | 'beforeId'>,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS)
  let beforeId: string | null = null
  do {
    const page: Awaited<ReturnType<InvoiceLookups['page']>> = await deps.lookups.page({
      ...query,
      limit: BATCH,
      beforeId,
    })
    const payments = await paymentsOf(deps, page.invoices)
    onRows(page.invoices.length)
    yield page.invoices.map((invoice) => lineOf(invoice, payments.get(invoice.terms.id) ?? [], deps)).join('')
    // A page may be short or empty before the end: only its end position shows whether it is the last.
    beforeId = page.next
  } while (beforeId !== null)
}

async function paymentsOf(
  { paymentLookups }: Pick<ExportInvoicesDeps, 'paymentLookups'>,
  invoices: readonly Invoice[],
): Promise<ReadonlyMap<string, readonly Payment[]>> {
  const byInvoice = new Map<string, Payment[]>()
  for (const payment of await paymentLookups.ofInvoices(invoices.map(({ terms }) => terms.id))) {
    const own = byInvoice.get(payment.invoiceId ?? '') ?? []
    own.push(payment)
    byInvoice.set(payment.invoiceId ?? '', own)
  }
  return byInvoice
}

function lineOf(
  { terms, state }: Invoice,
  payments: readonly Payment[],
  { networkName }: Pick<ExportInvoicesDeps, 'networkName'>,
): string {
  const paymentMethod = activePaymentMethod(state)
  const { dueBase, receivedBase, confirmedBase } = totals(state)
  const units = (base: bigint) => (paymentMethod === null ? null : formatUnits(base, paymentMethod.decimals))
  const counting = payments.filter((payment) => payment.counted && isLive(payment))
  return csvLine([
    terms.id,
    terms.number,
    state.status,
    state.paidLate,
    state.underpaidAccepted,
    state.ledger.some(({ simulated }) => simulated),
    terms.orderId,
    terms.description,
    terms.source,
    terms.customer.email,
    terms.customer.name,
    terms.fiat.currency,
    formatFiat(terms.fiat.minor, terms.fiat.currency),
    ...reportedCells(terms),
    paymentMethod?.asset ?? null,
    paymentMethod === null ? null : networkName(paymentMethod.network),
    paymentMethod?.address ?? null,
    paymentMethod?.quotes.at(-1)?.fiatPerAsset ?? null,
    units(dueBase),
    units(receivedBase),
    units(confirmedBase),
    counting.length,
    counting.flatMap(({ txHash }) => txHash ?? []).join(' '),
    iso(terms.createdAt),
    iso(state.expiresAt),
    iso(state.paidAt),
    iso(state.updatedAt),
  ])
}

function reportedCells(terms: Invoice['terms']): readonly (string | null)[] {
  const { reporting } = terms
  const minor = reporting === undefined ? null : reportedMinor(terms, reporting.currency)
  if (reporting === undefined || minor === null) return [null, null, null]
  return [reporting.currency, reporting.rate, formatFiat(minor, reporting.currency)]
}

const iso = (at: Ms | null): string | null => (at === null ? null : new Date(at).toISOString())
