import { z } from 'zod'
import { ASSET_IDS, FIAT_CODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { readFiatAmount } from './amount.ts'
import { moneyResource } from './money.ts'

/** Body of `POST /estimate`; `minor` is the amount in minor units of the currency. */
export const estimateBody = z
  .strictObject({ amount: z.string(), currency: z.enum(FIAT_CODES), asset: z.enum(ASSET_IDS) })
  .transform((body, context) => {
    const amount = readFiatAmount(body.amount, body.currency, 'amount')
    if (amount.ok) return { ...body, minor: amount.minor }
    context.addIssue({ code: 'custom', path: ['amount'], message: amount.detail.message, input: body.amount })
    return { ...body, minor: 0n }
  })
export type EstimateBody = z.output<typeof estimateBody>

/** The public estimate: what a lock made at this moment would ask for. All fields are always present. */
export const estimateResource = z.strictObject({
  object: z.literal('estimate'),
  livemode: z.boolean(),
  asset: z.enum(ASSET_IDS),
  network: z.enum(NETWORK_IDS),
  symbol: z.string(),
  fiat: moneyResource,
  amount: z.string(),
  amount_base_units: z.string(),
  decimals: z.int(),
  /** Every digit that was used, spread included. */
  fiat_per_asset: z.string(),
  /** An invoice below this, in units of the asset, is refused; an estimate is not. */
  min_amount: z.string(),
  rate_updated_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type EstimateResource = z.infer<typeof estimateResource>
