import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { optionalField } from '../bounded-text.ts'
import { AMOUNT_RULE, fiatAmount, readFiatAmount, validateAmount } from './amount.ts'
import { text } from './text.ts'
import { visibleText } from './visible-text.ts'

/** Body of `POST /products`; `priceMinor` is the price in minor units of the currency. */
export const productBody = z
  .strictObject({
    name: visibleText(200).describe('Shown to payers.'),
    price: fiatAmount.describe(`Price. ${AMOUNT_RULE}`),
    currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
    description: optionalField(text(500).describe('Further description.')),
    sku: optionalField(
      visibleText(100).describe('Your own code, compared exactly as written; unique in the workspace and mode.'),
    ),
  })
  .superRefine(...validateAmount('price'))
  .meta({ id: 'ProductCreate', description: 'Parameters of a product.' })
  .transform((body, context) => {
    const price = readFiatAmount(body.price, body.currency, 'price')
    if (price.ok) return { ...body, priceMinor: price.minor }
    context.addIssue({ code: 'custom', path: ['price'], message: price.detail.message, input: body.price })
    return z.NEVER
  })
export type ProductBody = z.output<typeof productBody>
