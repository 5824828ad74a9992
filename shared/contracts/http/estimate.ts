import { z } from 'zod'
import { ASSET_IDS, FIAT_CODES } from '#shared/domain/enumerations.ts'
import { AMOUNT_RULE, fiatAmount, readFiatAmount, validateAmount } from './amount.ts'
import { moneyResource } from './money.ts'
import { assetDecimals, assetId, decimalText, networkId, tickerSymbol, timestamp, wholeText } from './wire-types.ts'

/** Body of `POST /estimate`; `minor` is the amount in minor units of the currency. */
export const estimateBody = z
  .strictObject({
    amount: fiatAmount.describe(`Fiat price. ${AMOUNT_RULE}`),
    currency: z.enum(FIAT_CODES).describe('ISO 4217 code.'),
    asset: z.enum(ASSET_IDS).describe('Asset to convert to.'),
  })
  .superRefine(...validateAmount('amount'))
  .meta({ id: 'EstimateRequest', description: 'What to convert.' })
  .transform((body, context) => {
    const amount = readFiatAmount(body.amount, body.currency, 'amount')
    if (amount.ok) return { ...body, minor: amount.minor }
    context.addIssue({ code: 'custom', path: ['amount'], message: amount.detail.message, input: body.amount })
    return { ...body, minor: 0n }
  })
export type EstimateBody = z.output<typeof estimateBody>

/** The public estimate: the amount that a quote made now would require. All fields are always present. */
export const estimateResource = z
  .strictObject({
    object: z.literal('estimate'),
    livemode: z.boolean().describe('The mode of the key.'),
    asset: assetId,
    network: networkId,
    symbol: tickerSymbol,
    fiat: moneyResource.describe('The price to convert.'),
    amount: decimalText.describe('The price in units of the asset, rounded up like an invoice.'),
    amount_base_units: wholeText.describe('The same amount in base units.'),
    decimals: assetDecimals,
    fiat_per_asset: decimalText.describe('Price of one unit of the asset, in full precision.'),
    min_amount: decimalText.describe(
      'Invoices below this amount, in units of the asset, are refused; estimates are not.',
    ),
    rate_updated_at: timestamp.describe('Time of the oldest price in the rate.'),
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('The same: an estimate never changes.'),
  })
  .meta({ id: 'Estimate', description: 'The amount that a lock at this moment would require.' })
export type EstimateResource = z.infer<typeof estimateResource>
