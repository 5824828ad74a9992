import { z } from 'zod'
import { ASSET_IDS, FIAT_CODES } from '#shared/domain/enumerations.ts'
import { assetId, decimalText, networkId, tickerSymbol, timestamp } from './wire-types.ts'

/** Query of `GET /rates`. */
export const rateListQuery = z.strictObject({
  fiat: z.enum(FIAT_CODES).default('USD').describe('Currency of the prices.'),
  asset: z.enum(ASSET_IDS).optional().describe('Only this asset.'),
})

/** The public rate: the current value of one unit of an asset, including the workspace's spread. All fields are always present. */
export const rateResource = z
  .strictObject({
    object: z.literal('rate'),
    livemode: z.boolean().describe('The mode of the key.'),
    asset: assetId,
    symbol: tickerSymbol,
    network: networkId,
    fiat: z.enum(FIAT_CODES).describe('Currency of the price.'),
    fiat_per_asset: decimalText.describe('Price of one unit of the asset, in full precision.'),
    sources: z.int().min(1).max(1_000).describe('Number of independent sources of the price.'),
    created_at: timestamp.describe(
      'Time of the oldest price in it: a rate never changes, the next one takes its place.',
    ),
    updated_at: timestamp.describe('Time of the oldest price in it.'),
    expires_at: timestamp.describe('The rate is not used after this time.'),
  })
  .meta({ id: 'Rate', description: "Current price of one unit of an asset, including the workspace's spread." })
export type RateResource = z.infer<typeof rateResource>
