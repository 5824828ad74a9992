import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { absoluteUrl, decimalText, freeText, timestamp } from './wire-types.ts'

/** The public payment link. All fields are always present; amounts have exactly the decimals of the currency. */
export const paymentLinkResource = z
  .strictObject({
    id: z.uuid().describe('Unique.'),
    object: z.literal('payment_link'),
    livemode: z.boolean().describe('False for test links.'),
    status: z.enum(['active', 'inactive']).describe('An inactive link accepts no new payments.'),
    title: freeText(200).describe('Shown to payers.'),
    description: freeText(500).nullable().describe('Further description, shown to payers.'),
    currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
    amount: decimalText.nullable().describe('Fixed amount; null when the payer chooses it.'),
    allow_custom_amount: z.boolean().describe('Whether the payer chooses the amount.'),
    min_amount: decimalText.nullable().describe('Minimum that a payer can choose.'),
    max_amount: decimalText.nullable().describe('Maximum that a payer can choose.'),
    product_id: z.uuid().nullable().describe('The product whose title, price and currency were copied.'),
    url: absoluteUrl.describe('The page for payers.'),
    uses: z.int().min(0).max(Number.MAX_SAFE_INTEGER).describe('Invoices created from it.'),
    deactivated_at: timestamp.nullable().describe('When it stopped accepting new payments.'),
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it last changed.'),
  })
  .meta({ id: 'PaymentLink', description: 'A page that creates an invoice for each payer.' })
export type PaymentLinkResource = z.infer<typeof paymentLinkResource>
