import type { z } from 'zod'
import type { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import type { PaymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import type { productBody } from '#shared/contracts/http/product-create.ts'
import type { ProductResource } from '#shared/contracts/http/product-resource.ts'
import { EXAMPLE } from './ids.ts'

/** A product. */
export const productExample: ProductResource = {
  id: EXAMPLE.productId,
  object: 'product',
  livemode: true,
  name: 'Ticket',
  description: 'Standing, evening',
  price: '24.95',
  currency: 'USD',
  sku: 'TICKET-EVE',
  active: true,
  created_at: EXAMPLE.createdAt,
  updated_at: EXAMPLE.createdAt,
}

/** The request behind it. */
export const productCreateExample: z.input<typeof productBody> = {
  name: 'Ticket',
  price: '24.95',
  currency: 'USD',
  description: 'Standing, evening',
  sku: 'TICKET-EVE',
}

/** A link that sells the example product. */
export const paymentLinkExample: PaymentLinkResource = {
  id: EXAMPLE.linkId,
  object: 'payment_link',
  livemode: true,
  status: 'active',
  title: 'Ticket',
  description: null,
  currency: 'USD',
  amount: '24.95',
  allow_custom_amount: false,
  min_amount: null,
  max_amount: null,
  product_id: EXAMPLE.productId,
  url: `https://pay.example.com/l/${EXAMPLE.linkId}`,
  uses: 3,
  deactivated_at: null,
  created_at: EXAMPLE.createdAt,
  updated_at: EXAMPLE.createdAt,
}

/** The link after it was deactivated. */
export const inactiveLinkExample: PaymentLinkResource = {
  ...paymentLinkExample,
  status: 'inactive',
  deactivated_at: '2026-10-02T08:30:00.000Z',
  updated_at: '2026-10-02T08:30:00.000Z',
}

/** The request behind it. */
export const paymentLinkCreateExample: z.input<typeof paymentLinkBody> = { product_id: EXAMPLE.productId }
