import type { InvoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import type { PaymentResource } from '#shared/contracts/http/payment-resource.ts'
import { activePaymentMethod, type InvoiceState, type InvoiceTerms, type Ms } from '#shared/domain/invoice/model.ts'
import { isLive, requestedBase, totals } from '#shared/domain/invoice/totals.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'

import type { AssetInfo, Catalog } from '#shared/ports/chain-catalog.ts'
import type { InvoiceSnapshot } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'

/** Public addresses that a presented invoice points to; no trailing slash. */
export interface PublicUrls {
  readonly checkoutBaseUrl: string
}

/** Freezes the mutable part of the public invoice at this version. Pure and JSON-safe: the same state always gives the same text. */
export function snapshotInvoice(catalog: Pick<Catalog, 'paymentUri'>, state: InvoiceState): InvoiceSnapshot {
  const paymentMethod = activePaymentMethod(state)
  const quote = paymentMethod?.quotes.at(-1)
  const sums = totals(state)
  return {
    status: state.status,
    crypto:
      paymentMethod && quote
        ? {
            asset: paymentMethod.asset,
            network: paymentMethod.network,
            symbol: paymentMethod.symbol,
            amount: formatUnits(sums.dueBase, paymentMethod.decimals),
            amount_base_units: sums.dueBase.toString(),
            decimals: paymentMethod.decimals,
            address: paymentMethod.address,
            uri: paymentRequest(catalog, state, state.updatedAt).uri,
            required_confirmations: paymentMethod.requiredConfirmations,
          }
        : null,
    rate: quote
      ? {
          fiat_per_asset: quote.fiatPerAsset,
          locked_at: isoTime(quote.quotedAt),
          expires_at: isoTime(quote.expiresAt),
        }
      : null,
    received: {
      amount: paymentMethod ? formatUnits(sums.receivedBase, paymentMethod.decimals) : '0',
      amount_base_units: sums.receivedBase.toString(),
      confirmed_base_units: sums.confirmedBase.toString(),
    },
    flags: { paid_late: state.paidLate, underpaid_accepted: state.underpaidAccepted },
    expires_at: isoTime(state.expiresAt),
    paid_at: state.paidAt === null ? null : isoTime(state.paidAt),
    updated_at: isoTime(state.updatedAt),
  }
}

/** The invoice as the API and every event show it: what was agreed at creation plus a snapshot, in the field order of the specification. */
export function presentInvoice(terms: InvoiceTerms, snapshot: InvoiceSnapshot, urls: PublicUrls): InvoiceResource {
  const page = `${urls.checkoutBaseUrl}/i/${terms.id}`
  return {
    id: terms.id,
    object: 'invoice',
    number: terms.number,
    status: snapshot.status,
    livemode: terms.mode === 'live',
    description: terms.description,
    order_id: terms.orderId,
    metadata: terms.metadata,
    amount: {
      value: formatFiat(terms.fiat.minor, terms.fiat.currency),
      currency: terms.fiat.currency,
      // At most 12 integer digits and an exponent of 2: far below 2^53.
      minor: Number(terms.fiat.minor),
    },
    crypto: snapshot.crypto,
    rate: snapshot.rate,
    received: snapshot.received,
    flags: snapshot.flags,
    customer: terms.customer,
    urls: { checkout: page, receipt: `${page}/receipt`, success: terms.successUrl, cancel: terms.cancelUrl },
    payment_link_id: terms.paymentLinkId,
    product_id: terms.productId,
    source: terms.source,
    created_at: isoTime(terms.createdAt),
    expires_at: snapshot.expires_at,
    paid_at: snapshot.paid_at,
    updated_at: snapshot.updated_at,
  }
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}

/** What a payer is asked to send now, and the text from which a wallet prepares it. */
interface PaymentRequest {
  /** Base units of the invoice's asset; zero when nothing is due or only a new price can name an amount. */
  readonly amountBase: bigint
  /** A payment link for exactly this amount, the plain address where wallets agree on no link, and empty where nothing is asked for. */
  readonly uri: string
}

/** The one request of an invoice in this state: the REST API, webhooks, the checkout and the dashboard all show it. Pure. */
export function paymentRequest(catalog: Pick<Catalog, 'paymentUri'>, state: InvoiceState, at: Ms): PaymentRequest {
  const paymentMethod = activePaymentMethod(state)
  const amountBase = requestedBase(state, at)
  if (paymentMethod === null || amountBase === 0n) return { amountBase: 0n, uri: '' }
  const { asset, address, reference } = paymentMethod
  const named = reference === undefined ? {} : { reference }
  return { amountBase, uri: catalog.paymentUri({ asset, mode: state.mode, address, amountBase, ...named }) }
}

/** Values of a payment record that are not stored with the payment. */
interface PaymentContext {
  readonly asset: Pick<AssetInfo, 'id' | 'symbol' | 'decimals'>
  /** Link to the transaction in a public explorer; null for simulated payments and private networks. */
  readonly explorerUrl: string | null
  /** Blocks on top, including the payment's own, as of the committed cursor; 0 while it is in no block. */
  readonly confirmations: number
}

/** The public payment record. Only payments of an invoice in a known asset may be presented; `invoiceId` must be set. */
export function presentPayment(payment: Payment, context: PaymentContext): PaymentResource {
  const { asset } = context
  return {
    id: payment.id,
    object: 'payment',
    livemode: payment.mode === 'live',
    invoice_id: payment.invoiceId ?? '',
    asset: asset.id,
    network: payment.network,
    symbol: asset.symbol,
    amount: formatUnits(payment.amountBase, asset.decimals),
    amount_base_units: payment.amountBase.toString(),
    decimals: asset.decimals,
    status: payment.state,
    tx_hash: payment.txHash,
    output_index: payment.outputIndex,
    from_address: payment.fromAddress,
    to_address: payment.toAddress,
    block_number: payment.block?.height ?? null,
    block_hash: payment.block?.hash ?? null,
    confirmations: context.confirmations,
    required_confirmations: payment.requiredConfirmations,
    // What is gone counts for nothing, whatever was decided about it.
    counted: payment.counted && isLive(payment),
    uncounted_reason: payment.uncountedReason,
    late: payment.late,
    simulated: payment.kind === 'simulated',
    explorer_url: context.explorerUrl,
    detected_at: new Date(payment.firstSeenAt).toISOString(),
    confirmed_at: payment.confirmedAt === null ? null : new Date(payment.confirmedAt).toISOString(),
    created_at: new Date(payment.createdAt).toISOString(),
    updated_at: new Date(payment.updatedAt).toISOString(),
  }
}
