import { z } from 'zod'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'

/** The public currency: one supported asset and whether this workspace can receive it now. All fields are always present. */
export const currencyResource = z.strictObject({
  id: z.enum(ASSET_IDS),
  object: z.literal('currency'),
  livemode: z.boolean(),
  symbol: z.string(),
  network: z.enum(NETWORK_IDS),
  name: z.string(),
  decimals: z.int(),
  contract_address: z.string().nullable(),
  /** In units of the asset. */
  min_amount: z.string(),
  confirmations: z.int(),
  available: z.boolean(),
  /** Null exactly when `available` is true. */
  unavailable_reason: z
    .enum(['no_wallet', 'network_not_configured', 'network_lagging', 'rates_unavailable', 'addresses_exhausted'])
    .nullable(),
  /** A node is behind the network, so that transfers are seen by themselves. */
  watched: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type CurrencyResource = z.infer<typeof currencyResource>
