import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { absoluteUrl, decimalText, freeText, timestamp } from './wire-types.ts'

/** The public payment link. All fields are always present; amounts have exactly the decimals of the currency. */
export const paymentLinkResource = z
  .strictObject({
    id: z.uuid().describe('Unique for ever.'),
    object: z.literal('payment_link'),
    livemode: z.boolean().describe('False for test links.'),
    status: z.enum(['active', 'inactive']).describe('An inactive link takes no new payments.'),
    title: freeText(200).describe('What payers read.'),
    description: freeText(500).nullable().describe('More about it, for the payer.'),
    currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
    amount: decimalText.nullable().describe('Fixed amount; null when the payer chooses it.'),
    allow_custom_amount: z.boolean().describe('Whether the payer chooses the amount.'),
    min_amount: decimalText.nullable().describe('Least that a payer may choose.'),
    max_amount: decimalText.nullable().describe('Most that a payer may choose.'),
    product_id: z.uuid().nullable().describe('The product whose title, price and currency were copied.'),
    url: absoluteUrl.describe('The page to give to payers.'),
    uses: z.int().min(0).max(Number.MAX_SAFE_INTEGER).describe('Invoices made from it.'),
    deactivated_at: timestamp.nullable().describe('Since when it takes no new payments.'),
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it last changed.'),
  })
  .meta({ id: 'PaymentLink', description: 'A page that makes an invoice for each payer.' })
export type PaymentLinkResource = z.infer<typeof paymentLinkResource>
