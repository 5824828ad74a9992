import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** The public payment link. All fields are always present; amounts have exactly the decimals of the currency. */
export const paymentLinkResource = z.strictObject({
  id: z.uuid(),
  object: z.literal('payment_link'),
  livemode: z.boolean(),
  status: z.enum(['active', 'inactive']),
  title: z.string(),
  description: z.string().nullable(),
  currency: z.enum(FIAT_CODES),
  /** Null when the payer chooses it. */
  amount: z.string().nullable(),
  allow_custom_amount: z.boolean(),
  min_amount: z.string().nullable(),
  max_amount: z.string().nullable(),
  product_id: z.uuid().nullable(),
  /** The page to give to payers. */
  url: z.string(),
  /** Invoices made from it. */
  uses: z.int().nonnegative(),
  deactivated_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type PaymentLinkResource = z.infer<typeof paymentLinkResource>
