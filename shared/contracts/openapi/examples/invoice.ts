import type { z } from 'zod'
import type { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import type { InvoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import type { simulateBody } from '#shared/contracts/http/simulate-request.ts'
import { EXAMPLE } from './ids.ts'

const WHOLE: NonNullable<InvoiceResource['crypto']> = {
  asset: 'usdc_base',
  network: 'base',
  symbol: 'USDC',
  amount: '49.91',
  amount_base_units: '49910000',
  decimals: 6,
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  uri: 'ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=0x9858EfFD232B4033E47d90003D41EC34EcaEda94&uint256=49910000',
  required_confirmations: 10,
}

/** An invoice with a chosen asset, waiting for its payment. */
export const pendingInvoice: InvoiceResource = {
  id: EXAMPLE.invoiceId,
  object: 'invoice',
  number: 1042,
  status: 'pending',
  livemode: true,
  description: 'Two tickets',
  order_id: 'order-7731',
  metadata: { channel: 'web' },
  amount: { value: '49.90', currency: 'USD', minor: 4990 },
  crypto: WHOLE,
  rate: { fiat_per_asset: '0.9998', locked_at: EXAMPLE.createdAt, expires_at: '2026-10-01T12:15:00.000Z' },
  received: { amount: '0', amount_base_units: '0', confirmed_base_units: '0' },
  flags: { paid_late: false, underpaid_accepted: false },
  customer: { email: 'ada@example.com', name: 'Ada Lovelace' },
  urls: {
    checkout: `https://pay.example.com/i/${EXAMPLE.invoiceId}`,
    receipt: `https://pay.example.com/i/${EXAMPLE.invoiceId}/receipt`,
    success: 'https://shop.example.com/thanks',
    cancel: 'https://shop.example.com/basket',
  },
  payment_link_id: null,
  product_id: null,
  source: 'api',
  created_at: EXAMPLE.createdAt,
  expires_at: EXAMPLE.expiresAt,
  paid_at: null,
  updated_at: EXAMPLE.createdAt,
}

/** The same invoice, cancelled by the merchant. */
export const cancelledInvoice: InvoiceResource = {
  ...pendingInvoice,
  status: 'cancelled',
  crypto: { ...WHOLE, uri: '' },
  updated_at: '2026-10-01T12:10:00.000Z',
}

/** The same invoice in test mode, paid by a simulation. */
export const simulatedInvoice: InvoiceResource = {
  ...pendingInvoice,
  status: 'paid',
  livemode: false,
  crypto: { ...WHOLE, uri: '' },
  received: { amount: '49.91', amount_base_units: '49910000', confirmed_base_units: '49910000' },
  paid_at: EXAMPLE.paidAt,
  updated_at: EXAMPLE.paidAt,
}

/** The request behind it. */
export const invoiceCreateExample: z.input<typeof invoiceCreateBody.live> = {
  amount: '49.90',
  currency: 'USD',
  description: 'Two tickets',
  order_id: 'order-7731',
  asset: 'usdc_base',
  metadata: { channel: 'web' },
  customer: { email: 'ada@example.com', name: 'Ada Lovelace' },
  success_url: 'https://shop.example.com/thanks',
  cancel_url: 'https://shop.example.com/basket',
  expires_in: 3600,
}

/** Simulates a full payment. */
export const simulateExample: z.input<typeof simulateBody> = { scenario: 'paid' }
