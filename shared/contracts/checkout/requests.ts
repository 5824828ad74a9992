import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'

/** Id of one action of one browser, so that a repetition finds it done. */
const actionId = z.uuid()

/** A payer's choice of asset. */
export const chooseAssetBody = z.strictObject({ asset: z.enum(ASSET_IDS), actionId })

/** A payer's request for a new quote. */
export const renewPriceBody = z.strictObject({ actionId })

/** A payer's request to pay through a link; the amount only if the payer chooses it. */
export const payLinkBody = z.strictObject({ amount: boundedText(31).optional(), actionId })

/** A transaction that a payer asks about, as wallets show it. */
export const paidHashBody = z.strictObject({ txHash: trimmedText(120).min(32) })

/** A transaction that the payer's wallet announced: 64 hex digits with 0x at most, or a Solana signature. */
export const hintBody = z.strictObject({ txHash: boundedText(88).min(64) })

/** The account of a payer's wallet, for which a transaction is prepared; the use case checks it. */
export const walletPaymentBody = z.strictObject({ account: boundedText(100).min(1) })

/** A prepared transaction and what the payer's wallet signed it with: 65 bytes, hex with 0x at most. */
export const signedPaymentBody = z.strictObject({
  account: boundedText(100).min(1),
  prepared: boundedText(4_000).min(1),
  signature: boundedText(132).min(130),
})

/** Where a refund may be sent; the use case checks the address. */
export const refundAddressBody = z.strictObject({ address: trimmedText(200).min(1) })
