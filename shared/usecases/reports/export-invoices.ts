import { csvHeading, csvLine } from '#shared/contracts/csv.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { booksOf } from '#shared/domain/books/invoice-books.ts'
import { type Movement, movementsOf } from '#shared/domain/books/movements.ts'
import type { AssetId, FiatCode, NetworkId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { isLive, totals } from '#shared/domain/invoice/totals.ts'
import { formatSignedFiat, formatUnits } from '#shared/domain/money/money.ts'

import type { InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import type { Invoice, InvoiceRecords } from '#shared/ports/invoices.ts'
import { recordsOfInvoices } from '#shared/usecases/reports/records-of-invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { amountText, type Cell, iso, marketSumCell, reportingCells } from './book-cells.ts'

/** Invoices held in memory at once, with their payments and refunds. */
const BATCH = 500

/** Dependencies of exporting. */
export type ExportInvoicesDeps = Uses<'paymentLookups' | 'refunds' | 'catalog'> & {
  readonly lookups: Pick<InvoiceLookups, 'page'>
  readonly networkName: (network: NetworkId) => string
  readonly reportingCurrency: FiatCode
}

const COLUMNS = [
  'invoice_id',
  'invoice_number',
  'mode',
  'status',
  'paid_late',
  'accepted_short',
  'simulated',
  'order_id',
  'description',
  'source',
  'payment_link_id',
  'product_id',
  'customer_email',
  'customer_name',
  'currency',
  'price',
  'received_value',
  'short_value',
  'short_reason',
  'excess_value',
  'refunded_value',
  'net_value',
  'received_market_value',
  'refunded_market_value',
  'reporting_currency',
  'reporting_rate',
  'reporting_price',
  'asset',
  'network',
  'address',
  'price_rate',
  'due_amount',
  'received_amounts',
  'refunded_amounts',
  'payments',
  'tx_hashes',
  'created_at',
  'expires_at',
  'paid_at',
  'updated_at',
] as const

/**
 * The lines of a CSV file of invoices, newest first, heading first: the same invoices as a list with the same query, paid or not.
 * `price = received_value + short_value - excess_value`; values are at the price's rate in the invoice's currency unless their name says market, and
 * `reporting_price` is the price in the reporting currency. Amounts name their coin, each coin that came for itself. Only one batch is in memory at a time and the next is
 * read after this one was consumed, so that any number can be exported. Times are ISO 8601, UTC. `onRows` is called with the number of rows of a
 * batch before it is yielded. `tx_hashes` contains the transactions that count and still exist, oldest first, with spaces between.
 */
export async function* exportInvoices(
  deps: ExportInvoicesDeps,
  query: Omit<InvoicePageQuery, 'limit' | 'beforeId'>,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  yield csvHeading(COLUMNS)
  let beforeId: string | null = null
  do {
    const page: Awaited<ReturnType<InvoiceLookups['page']>> = await deps.lookups.page({
      ...query,
      limit: BATCH,
      beforeId,
    })
    const records = await recordsOfInvoices(deps, page.invoices)
    onRows(records.length)
    yield records.map((one) => lineOf(deps, one)).join('')
    // A page may be short or empty before the end: only its end position shows whether it is the last.
    beforeId = page.next
  } while (beforeId !== null)
}

function lineOf(deps: ExportInvoicesDeps, { invoice, payments, refunds }: InvoiceRecords): string {
  const { terms, state } = invoice
  const counting = payments.filter((payment) => payment.counted && isLive(payment))
  const movements = movementsOf(invoice, payments, refunds)
  return csvLine([
    ...[terms.id, terms.number, terms.mode, state.status, state.paidLate, state.underpaidAccepted],
    state.ledger.some(({ simulated }) => simulated),
    ...[terms.orderId, terms.description, terms.source, terms.paymentLinkId, terms.productId],
    ...[terms.customer.email, terms.customer.name],
    ...valueCells(invoice, movements),
    ...reportingCells(terms, deps.reportingCurrency, 0n, terms.fiat.minor),
    ...methodCells(invoice),
    coinsText(deps, movements, (kind) => kind !== 'refund'),
    coinsText(deps, movements, (kind) => kind === 'refund'),
    counting.length,
    counting.flatMap(({ txHash }) => txHash ?? []).join(' '),
    ...[iso(terms.createdAt), iso(state.expiresAt), iso(state.paidAt), iso(state.updatedAt)],
  ])
}

function valueCells(invoice: Invoice, movements: readonly Movement[]): readonly Cell[] {
  const { currency } = invoice.terms.fiat
  const books = booksOf(invoice, movements)
  const text = (minor: bigint) => formatSignedFiat(minor, currency)
  return [
    ...[currency, text(books.price), text(books.received), text(books.short), books.shortKind, text(books.excess)],
    ...[text(books.refunded), text(books.net)],
    ...[marketSumCell(books.market, currency), marketSumCell(books.refundedMarket, currency)],
  ]
}

function methodCells({ state }: Invoice): readonly Cell[] {
  const paymentMethod = activePaymentMethod(state)
  if (paymentMethod === null) return [null, null, null, null, null]
  const { asset, network, address, quotes, decimals } = paymentMethod
  const due = formatUnits(totals(state).dueBase, decimals)
  return [asset, network, address, quotes.at(-1)?.fiatPerAsset ?? null, due]
}

/** What moved of each coin, with its network: `200 USDC on Ethereum; 0.1 ETH on Base`. */
function coinsText(
  { catalog, networkName }: Pick<ExportInvoicesDeps, 'catalog' | 'networkName'>,
  movements: readonly Movement[],
  of: (kind: Movement['kind']) => boolean,
): string {
  const sums = new Map<AssetId, bigint>()
  for (const { asset, amountBase, kind } of movements) {
    if (of(kind)) sums.set(asset, (sums.get(asset) ?? 0n) + amountBase)
  }
  return [...sums]
    .filter(([, base]) => base !== 0n)
    .map(([asset, base]) => {
      const { symbol, network, decimals } = catalog.asset(asset)
      return `${amountText(base < 0n ? -base : base, decimals, symbol)} on ${networkName(network)}`
    })
    .join('; ')
}
