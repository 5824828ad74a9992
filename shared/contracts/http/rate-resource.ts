import { z } from 'zod'
import { ASSET_IDS, FIAT_CODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'

/** Query of `GET /rates`. */
export const rateListQuery = z.strictObject({
  fiat: z.enum(FIAT_CODES).default('USD'),
  asset: z.enum(ASSET_IDS).optional(),
})

/** The public rate: what one unit of an asset is worth now, the workspace's spread included. All fields are always present. */
export const rateResource = z.strictObject({
  object: z.literal('rate'),
  livemode: z.boolean(),
  asset: z.enum(ASSET_IDS),
  symbol: z.string(),
  network: z.enum(NETWORK_IDS),
  fiat: z.enum(FIAT_CODES),
  /** Every digit that a lock would use. */
  fiat_per_asset: z.string(),
  /** How many independent sources of the asset's price are in it. */
  sources: z.int().positive(),
  created_at: z.iso.datetime(),
  /** Time of the oldest price in it. */
  updated_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})
export type RateResource = z.infer<typeof rateResource>
