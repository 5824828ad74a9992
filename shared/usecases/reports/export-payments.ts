import { csvLine } from '#shared/contracts/csv.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { Ms, Quote } from '#shared/domain/invoice/model.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { PaymentPageQuery } from '#shared/ports/payment-lookups.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { fiatValue } from '#shared/usecases/rates/fiat-value.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Payments held in memory at once, with their invoices. */
const BATCH = 500

/** Dependencies of exporting. */
export type ExportPaymentsDeps = Uses<'paymentLookups' | 'catalog'> & {
  readonly lookups: Pick<InvoiceLookups, 'findMany'>
}

/** The payments: first stored at or after `from` and before `to`, on a network, counted or not; null = without bound. */
export interface ExportScope extends Pick<PaymentPageQuery, 'workspaceId' | 'mode' | 'network' | 'counted'> {
  readonly from: Ms | null
  readonly to: Ms | null
}

const COLUMNS = [
  'payment_id',
  'invoice_id',
  'invoice_number',
  'order_id',
  'status',
  'counted',
  'late',
  'simulated',
  'network',
  'asset',
  'amount',
  'amount_base_units',
  'rate_at_quote',
  'fiat_currency',
  'fiat_at_quote',
  'invoice_amount',
  'tx_hash',
  'from_address',
  'to_address',
  'block_number',
  'first_seen_at',
  'confirmed_at',
] as const

/**
 * The lines of a CSV file of payments, oldest first, heading first: the same payments as a list with the same filters, also those that do
 * not count. Only one batch is in memory at a
 * time and the next is read after this one was consumed, so that any number can be exported. Times are ISO 8601, UTC; amounts
 * plain decimals. `onRows` is called with the number of rows of a batch before it is yielded. The rate is that of the quote valid when the payment was first seen, otherwise of the last quote.
 */
export async function* exportPayments(
  deps: ExportPaymentsDeps,
  scope: ExportScope,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS)
  const { from, to, ...filters } = scope
  const query = { ...filters, createdFrom: from, createdTo: to, limit: BATCH }
  let afterId: string | null = null
  for (;;) {
    const batch: readonly Payment[] = await deps.paymentLookups.pageForward(query, afterId)
    const invoices = await deps.lookups.findMany([...new Set(batch.flatMap(({ invoiceId }) => invoiceId ?? []))])
    onRows(batch.length)
    yield batch.map((payment) => lineOf(payment, invoices.get(payment.invoiceId ?? '') ?? null, deps.catalog)).join('')
    if (batch.length < BATCH) return
    afterId = batch.at(-1)?.id ?? null
  }
}

function lineOf(payment: Payment, invoice: Invoice | null, catalog: Pick<Catalog, 'asset'>): string {
  const decimals = payment.asset === null ? null : catalog.asset(payment.asset).decimals
  const quote = invoice === null ? null : quoteOf(payment, invoice)
  const fiat = invoice?.terms.fiat ?? null
  const worth =
    quote === null || fiat === null || decimals === null
      ? null
      : fiatValue(payment.amountBase, decimals, quote.fiatPerAsset, fiat.currency)
  return csvLine([
    payment.id,
    payment.invoiceId,
    invoice?.terms.number ?? null,
    invoice?.terms.orderId ?? null,
    payment.state,
    payment.counted,
    payment.late,
    payment.kind === 'simulated',
    payment.network,
    payment.asset,
    decimals === null ? null : formatUnits(payment.amountBase, decimals),
    payment.amountBase.toString(),
    quote?.fiatPerAsset ?? null,
    fiat?.currency ?? null,
    worth,
    fiat === null ? null : formatFiat(fiat.minor, fiat.currency),
    payment.txHash,
    payment.fromAddress,
    payment.toAddress,
    payment.block?.height ?? null,
    new Date(payment.firstSeenAt).toISOString(),
    payment.confirmedAt === null ? null : new Date(payment.confirmedAt).toISOString(),
  ])
}

function quoteOf({ asset, matchKey, firstSeenAt }: Payment, { state }: Invoice): Quote | null {
  const paymentMethod = state.paymentMethods.find((one) => one.asset === asset && one.matchKey === matchKey)
  const held = paymentMethod?.quotes.findLast(
    ({ quotedAt, expiresAt }) => quotedAt <= firstSeenAt && firstSeenAt < expiresAt,
  )
  return held ?? paymentMethod?.quotes.at(-1) ?? null
}
