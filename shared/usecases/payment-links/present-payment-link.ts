import type { PaymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import type { PaymentLink } from '#shared/ports/payment-links.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'

/** The link as the API shows it, with the number of invoices made from it. */
export function presentPaymentLink(link: PaymentLink, uses: number, urls: PublicUrls): PaymentLinkResource {
  const { amount, currency } = link
  const fixed = amount.kind === 'fixed'
  return {
    id: link.id,
    object: 'payment_link',
    livemode: link.mode === 'live',
    status: link.status,
    title: link.title,
    description: link.description,
    currency,
    amount: fixed ? formatFiat(amount.minor, currency) : null,
    allow_custom_amount: !fixed,
    min_amount: fixed ? null : formatOrNull(amount.minMinor, currency),
    max_amount: fixed ? null : formatOrNull(amount.maxMinor, currency),
    product_id: link.productId,
    url: `${urls.checkoutBaseUrl}/l/${link.id}`,
    uses,
    deactivated_at: link.deactivatedAt === null ? null : isoTime(link.deactivatedAt),
    created_at: isoTime(link.createdAt),
    updated_at: isoTime(link.updatedAt),
  }
}

function formatOrNull(minor: bigint | null, currency: FiatCode): string | null {
  return minor === null ? null : formatFiat(minor, currency)
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
