import { z } from 'zod'
import { ASSET_IDS, INVOICE_STATUSES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { moneyResource } from './money.ts'

const timestamp = z.iso.datetime()

/** The public invoice of specification §2: every field is always present and no other field ever is. */
export const invoiceResource = z.strictObject({
  id: z.uuid(),
  object: z.literal('invoice'),
  number: z.int().positive(),
  status: z.enum(INVOICE_STATUSES),
  livemode: z.boolean(),
  description: z.string().nullable(),
  order_id: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  amount: moneyResource,
  crypto: z
    .strictObject({
      asset: z.enum(ASSET_IDS),
      network: z.enum(NETWORK_IDS),
      symbol: z.string(),
      amount: z.string(),
      amount_base_units: z.string(),
      decimals: z.int(),
      address: z.string(),
      uri: z.string(),
      required_confirmations: z.int(),
    })
    .nullable(),
  rate: z.strictObject({ fiat_per_asset: z.string(), locked_at: timestamp, expires_at: timestamp }).nullable(),
  received: z.strictObject({
    amount: z.string(),
    amount_base_units: z.string(),
    confirmed_base_units: z.string(),
  }),
  flags: z.strictObject({ paid_late: z.boolean(), underpaid_accepted: z.boolean() }),
  customer: z.strictObject({ email: z.string().nullable(), name: z.string().nullable() }),
  urls: z.strictObject({
    checkout: z.string(),
    receipt: z.string(),
    success: z.string().nullable(),
    cancel: z.string().nullable(),
  }),
  payment_link_id: z.uuid().nullable(),
  product_id: z.uuid().nullable(),
  source: z.enum(['link', 'api', 'manual', 'billing']),
  created_at: timestamp,
  expires_at: timestamp,
  paid_at: timestamp.nullable(),
  updated_at: timestamp,
})
export type InvoiceResource = z.infer<typeof invoiceResource>
