import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** A fiat amount in responses: `value` has exactly the currency's ISO 4217 exponent of decimals. */
export const moneyResource = z
  .strictObject({
    value: boundedText(20)
      .regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)
      .describe('Decimal amount, with exactly the decimals of the currency (none for CLP, two for the others).'),
    currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
    minor: z.int().min(0).max(Number.MAX_SAFE_INTEGER).describe('The same amount in minor units: cents for USD.'),
  })
  .meta({ id: 'Money', description: 'A fiat amount.' })
