import { z } from 'zod'
import { ASSET_IDS, NETWORK_IDS, PAYMENT_STATES } from '#shared/domain/enumerations.ts'

const timestamp = z.iso.datetime()

/** The public payment: one on-chain (or simulated) transfer attributed to an invoice. All fields are always present. */
export const paymentResource = z.strictObject({
  id: z.uuid(),
  object: z.literal('payment'),
  livemode: z.boolean(),
  invoice_id: z.uuid(),
  asset: z.enum(ASSET_IDS),
  network: z.enum(NETWORK_IDS),
  symbol: z.string(),
  amount: z.string(),
  amount_base_units: z.string(),
  decimals: z.int(),
  status: z.enum(PAYMENT_STATES),
  tx_hash: z.string().nullable(),
  output_index: z.int().nullable(),
  from_address: z.string().nullable(),
  to_address: z.string(),
  block_number: z.int().nullable(),
  block_hash: z.string().nullable(),
  confirmations: z.int().nonnegative(),
  required_confirmations: z.int(),
  counted: z.boolean(),
  uncounted_reason: z.string().nullable(),
  late: z.boolean(),
  simulated: z.boolean(),
  explorer_url: z.string().nullable(),
  detected_at: timestamp,
  confirmed_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
})
export type PaymentResource = z.infer<typeof paymentResource>
