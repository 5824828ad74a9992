import type { InvoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { activePaymentMethod, type InvoiceState, type InvoiceTerms } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { InvoiceSnapshot } from '#shared/ports/invoices.ts'
import { paymentRequest } from './payment-request.ts'

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
