import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** A fiat amount as every response prints it: `value` has exactly the currency's ISO 4217 exponent of decimals. */
export const moneyResource = z.strictObject({
  value: z.string(),
  currency: z.enum(FIAT_CODES),
  minor: z.int(),
})
