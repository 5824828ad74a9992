import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** The public product. All fields are always present. */
export const productResource = z.strictObject({
  id: z.uuid(),
  object: z.literal('product'),
  livemode: z.boolean(),
  name: z.string(),
  description: z.string().nullable(),
  /** With exactly the decimals of the currency. */
  price: z.string(),
  currency: z.enum(FIAT_CODES),
  sku: z.string().nullable(),
  active: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type ProductResource = z.infer<typeof productResource>
