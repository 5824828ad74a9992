import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { decimalText, freeText, timestamp } from './wire-types.ts'

/** The public product. All fields are always present. */
export const productResource = z
  .strictObject({
    id: z.uuid().describe('Unique.'),
    object: z.literal('product'),
    livemode: z.boolean().describe('False for test products.'),
    name: freeText(200).describe('Shown to payers.'),
    description: freeText(500).nullable().describe('Further description.'),
    price: decimalText.describe('Price, with exactly the decimals of the currency.'),
    currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
    sku: freeText(100).nullable().describe('Your own code; unique in the workspace and mode.'),
    active: z.boolean().describe('You cannot create payment links for an inactive product.'),
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it last changed.'),
  })
  .meta({ id: 'Product', description: 'Something that payment links sell.' })
export type ProductResource = z.infer<typeof productResource>
