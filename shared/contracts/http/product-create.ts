import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { readFiatAmount } from './amount.ts'
import { text } from './text.ts'
import { visibleText } from './visible-text.ts'

/** Body of `POST /products`; `priceMinor` is the price in minor units of the currency. */
export const productBody = z
  .strictObject({
    name: visibleText(200),
    price: z.string(),
    currency: z.enum(FIAT_CODES),
    description: text(500).optional(),
    /** The merchant's own code, compared exactly as it is written. */
    sku: visibleText(100).optional(),
  })
  .transform((body, context) => {
    const price = readFiatAmount(body.price, body.currency, 'price')
    if (price.ok) return { ...body, priceMinor: price.minor }
    context.addIssue({ code: 'custom', path: ['price'], message: price.detail.message, input: body.price })
    return z.NEVER
  })
export type ProductBody = z.output<typeof productBody>
