import { z } from 'zod'
import {
  assetDecimals,
  assetId,
  blockCount,
  chainToken,
  decimalText,
  freeText,
  networkId,
  tickerSymbol,
  timestamp,
} from './wire-types.ts'

/** The public currency: one supported asset and whether this workspace can receive it now. All fields are always present. */
export const currencyResource = z
  .strictObject({
    id: assetId,
    object: z.literal('currency'),
    livemode: z.boolean().describe('The mode of the key: availability may differ between the two.'),
    symbol: tickerSymbol,
    network: networkId,
    name: freeText(100).describe('Display name.'),
    decimals: assetDecimals,
    contract_address: chainToken.nullable().describe('Token contract or mint; null for the coin of the network.'),
    min_amount: decimalText.describe('Minimum amount of an invoice, in units of the asset.'),
    confirmations: blockCount.describe(
      'Confirmations required for an ordinary invoice; `crypto.required_confirmations` of an invoice is the number required for its value.',
    ),
    available: z.boolean().describe('Whether this workspace can receive it now.'),
    unavailable_reason: z
      .enum([
        'no_wallet',
        'network_not_configured',
        'asset_not_on_network',
        'network_lagging',
        'rates_unavailable',
        'addresses_exhausted',
      ])
      .nullable()
      .describe('Reason; null exactly when `available` is true.'),
    watched: z.boolean().describe('A node is behind the network, so that real transfers are seen.'),
    created_at: timestamp.describe('When the workspace was created.'),
    updated_at: timestamp.describe('When availability was checked: now.'),
  })
  .meta({ id: 'Currency', description: 'A supported crypto asset.' })
export type CurrencyResource = z.infer<typeof currencyResource>
