import { z } from 'zod'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'

/** Names one deed of one browser, so that a repetition finds it done. */
const deed = z.uuid()

/** A payer's choice of asset. */
export const chooseAssetBody = z.strictObject({ asset: z.enum(ASSET_IDS), deed })

/** A payer's wish for a new price. */
export const renewPriceBody = z.strictObject({ deed })

/** A payer's wish to pay through a link; the amount only where the payer chooses it. */
export const payLinkBody = z.strictObject({ amount: z.string().max(31).optional(), deed })

/** A transaction that a payer asks about, as wallets show it. */
export const paidHashBody = z.strictObject({ txHash: z.string().trim().min(32).max(120) })

/** Where a refund may be sent; the use case judges the address. */
export const refundAddressBody = z.strictObject({ address: z.string().trim().min(1).max(200) })
