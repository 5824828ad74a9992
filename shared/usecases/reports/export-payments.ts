import { csvHeading, csvLine } from '#shared/contracts/csv.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { marketSum, reportedChange } from '#shared/domain/books/invoice-books.ts'
import { type Movement, priceValue } from '#shared/domain/books/movements.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import { formatFiat, formatSignedFiat } from '#shared/domain/money/money.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { PaymentPageQuery } from '#shared/ports/payment-lookups.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { entriesOf } from '#shared/usecases/reports/read-movements.ts'
import { recordsOfInvoices } from '#shared/usecases/reports/records-of-invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import {
  amountText,
  type Cell,
  iso,
  MARKET_COLUMNS,
  marketCells,
  marketSumCell,
  NO_RATE,
  QUOTE_COLUMNS,
  quoteCells,
  REPORTING_COLUMNS,
  reportingCells,
  signedUnits,
} from './book-cells.ts'

/** Payments held in memory at once, with their invoices. */
const BATCH = 500

/** Dependencies of exporting. */
export type ExportPaymentsDeps = Uses<'paymentLookups' | 'refunds' | 'catalog'> & {
  readonly lookups: Pick<InvoiceLookups, 'findMany'>
  readonly reportingCurrency: FiatCode
}

const COLUMNS = [
  'payment_id',
  'invoice_id',
  'invoice_number',
  'order_id',
  'mode',
  'status',
  'counted',
  'uncounted_reason',
  'late',
  'simulated',
  'network',
  'asset',
  'symbol',
  'amount',
  'amount_text',
  'currency',
  'price',
  'received_value',
  'applied_value',
  'excess_value',
  ...QUOTE_COLUMNS,
  'market_value',
  ...MARKET_COLUMNS,
  ...REPORTING_COLUMNS,
  'tx_hash',
  'output_index',
  'explorer_url',
  'from_address',
  'to_address',
  'block_number',
  'block_time',
  'created_at',
  'first_seen_at',
  'confirmed_at',
] as const

/**
 * The lines of a CSV file of payments, oldest first, heading first: the same payments as a list with the same filters, also those that do
 * not count. Values are those that are booked now: `received_value` at the price's rate, divided into what pays the price and what is above it, and
 * `market_value` without spread; nothing is booked for money that is not confirmed, or that a reorganisation took back. `reporting_value` is
 * `received_value`. Only one batch is in memory at a
 * time and the next is read after this one was consumed, so that any number can be exported. Times are ISO 8601, UTC; amounts
 * plain decimals. `onRows` is called with the number of rows of a batch before it is yielded.
 */
export async function* exportPayments(
  deps: ExportPaymentsDeps,
  scope: Omit<PaymentPageQuery, 'limit' | 'beforeId'>,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  yield csvHeading(COLUMNS)
  let afterId: string | null = null
  for (;;) {
    const batch: readonly Payment[] = await deps.paymentLookups.pageForward({ ...scope, limit: BATCH }, afterId)
    const invoices = await deps.lookups.findMany([...new Set(batch.flatMap(({ invoiceId }) => invoiceId ?? []))])
    const records = await recordsOfInvoices(deps, [...invoices.values()])
    const movements = new Map<string, Movement[]>()
    for (const { movement } of records.flatMap(entriesOf)) {
      const { id = '' } = movement.payment ?? {}
      movements.set(id, [...(movements.get(id) ?? []), movement])
    }
    onRows(batch.length)
    yield batch
      .map((payment) => {
        // A payment of a workspace is that of an invoice.
        const invoice = invoices.get(payment.invoiceId ?? '')
        if (invoice === undefined) throw new Error(`payment ${payment.id} has no invoice`)
        return lineOf(deps, payment, invoice, movements.get(payment.id) ?? [])
      })
      .join('')
    if (batch.length < BATCH) return
    afterId = batch.at(-1)?.id ?? null
  }
}

function lineOf(deps: ExportPaymentsDeps, payment: Payment, invoice: Invoice, movements: readonly Movement[]): string {
  const { network, mode, amountBase, txHash } = payment
  const info = payment.asset === null ? null : deps.catalog.asset(payment.asset)
  return csvLine([
    ...[payment.id, payment.invoiceId, invoice.terms.number, invoice.terms.orderId, mode],
    ...[payment.state, payment.counted && isLive(payment), payment.uncountedReason, payment.late],
    ...[payment.kind === 'simulated', network, payment.asset, info?.symbol ?? null],
    info === null ? null : signedUnits(amountBase, info.decimals),
    info === null ? `${amountBase} base units` : amountText(amountBase, info.decimals, info.symbol),
    ...valueCells(deps, payment, invoice, movements),
    ...[txHash, payment.outputIndex],
    txHash === null ? null : deps.catalog.explorerTxUrl(network, mode, txHash),
    ...[payment.fromAddress, payment.toAddress, payment.block?.height ?? null, iso(payment.block?.time ?? null)],
    ...[iso(payment.createdAt), iso(payment.firstSeenAt), iso(payment.confirmedAt)],
  ])
}

function valueCells(
  { reportingCurrency }: Pick<ExportPaymentsDeps, 'reportingCurrency'>,
  payment: Payment,
  invoice: Invoice,
  movements: readonly Movement[],
): readonly Cell[] {
  const { terms } = invoice
  const { minor, currency } = terms.fiat
  const sum = (of: (movement: Movement) => bigint) => movements.reduce((total, movement) => total + of(movement), 0n)
  const text = (value: bigint) => formatSignedFiat(value, currency)
  const quote = movements.findLast((movement) => movement.quote !== null)?.quote ?? null
  const [, rate = null] = reportingCells(terms, reportingCurrency, 0n, 0n)
  const reported = sum(({ before, after }) => reportedChange(terms, reportingCurrency, before, after) ?? 0n)
  return [
    ...[currency, formatFiat(minor, currency), text(sum(priceValue))],
    ...[text(sum(({ appliedMinor }) => appliedMinor)), text(sum(({ excessMinor }) => excessMinor))],
    ...quoteCells(quote),
    movements.length > 0 && payment.market === undefined ? NO_RATE : marketSumCell(marketSum(movements), currency),
    ...marketCells(payment.market ?? null),
    ...[reportingCurrency, rate, rate === NO_RATE ? null : formatSignedFiat(reported, reportingCurrency)],
  ]
}
