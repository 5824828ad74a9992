import type {
  AssetId,
  Family,
  FiatCode,
  InvoiceStatus,
  Mode,
  NetworkId,
  PaymentState,
} from '#shared/domain/enumerations.ts'
import type { UncountedReason } from '#shared/domain/invoice/model.ts'

/** Whom the payer pays, as far as a payer may know. */
export interface MerchantView {
  readonly name: string
  /** Mail address or web address for payers' questions; null when the merchant named none. */
  readonly contact: string | null
}

/** An amount of fiat: plain decimal text with exactly the currency's decimals. */
export interface FiatView {
  readonly value: string
  readonly currency: FiatCode
}

/** The asset that was chosen and what to send where. Amounts are decimal text of the asset, never to be rounded again. */
export interface LockView {
  readonly asset: AssetId
  readonly symbol: string
  readonly network: NetworkId
  readonly family: Family
  /** False for the network's own coin. */
  readonly isToken: boolean
  readonly address: string
  /** What the whole invoice costs in this asset. */
  readonly due: string
  /** What is still to be sent; `0` when nothing is. */
  readonly remaining: string
  readonly remainingBase: string
  /** A wallet's link for exactly the remaining amount; null where the network has no common form of one, or nothing is due. */
  readonly uri: string | null
  /** The amount tells this invoice apart from others on the same address: not a unit more or less. */
  readonly isExact: boolean
  readonly requiredConfirmations: number
  /** The block of a payment must also be final as the chain itself says. */
  readonly needsFinality: boolean
  /** Usual time from a payment's block to its confirmation, milliseconds. */
  readonly confirmMs: number
  readonly blockTimeMs: number
  /** Fiat per one unit of the asset, every digit used. */
  readonly fiatPerAsset: string
  readonly lockedAt: number
  readonly quoteEndsAt: number
  /** For wallets in the browser; null where there are none. */
  readonly evm: { readonly chainId: number; readonly contract: string | null } | null
}

/** One transfer towards the invoice. */
export interface PaymentView {
  readonly amount: string
  readonly symbol: string
  readonly state: PaymentState
  readonly confirmations: number
  readonly requiredConfirmations: number
  readonly txHash: string | null
  readonly explorerUrl: string | null
  readonly seenAt: number
  readonly isLate: boolean
  readonly isSimulated: boolean
  /** Why it is not counted; null when it is. */
  readonly uncounted: UncountedReason | null
}

/** Everything that a payer sees of an invoice, and nothing else. Times are Unix milliseconds of the store's clock. */
export interface InvoiceView {
  readonly id: string
  readonly mode: Mode
  readonly number: number
  readonly status: InvoiceStatus
  /** Rises with every change of the invoice. */
  readonly version: number
  readonly merchant: MerchantView
  readonly orderId: string | null
  readonly description: string | null
  readonly fiat: FiatView
  readonly createdAt: number
  readonly expiresAt: number
  readonly paidAt: number | null
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  /** The payment link it was made by; null otherwise. */
  readonly paymentLinkId: string | null
  readonly lock: LockView | null
  /** Sum of everything that arrived in the chosen asset, late money included. */
  readonly received: string
  /** What was sent beyond the amount due; `0` unless overpaid. */
  readonly excess: string
  readonly payments: readonly PaymentView[]
  readonly isPaidLate: boolean
  readonly isAcceptedShort: boolean
  /** The time to pay is over and the network has not been read that far: nobody knows that nothing arrived. */
  readonly isUnread: boolean
  /** The payer may choose an asset now, or another one. */
  readonly canChoose: boolean
  /** The payer may ask for a new price on the same address now. */
  readonly canRenew: boolean
}

/** An asset the payer may choose. */
export interface AssetOption {
  readonly asset: AssetId
  readonly symbol: string
  /** Name of the coin. */
  readonly name: string
  readonly network: NetworkId
  /** What it would cost now; null while there is no price. */
  readonly estimate: string | null
  /** Confirmations times the usual time between blocks, milliseconds. */
  readonly confirmMs: number
  /** False while the network or its price is out of order. */
  readonly isAvailable: boolean
}

/** A payment link as a payer sees it. */
export interface LinkView {
  readonly id: string
  readonly mode: Mode
  readonly isActive: boolean
  readonly merchant: MerchantView
  readonly title: string
  readonly description: string | null
  readonly currency: FiatCode
  /** `fixed`: the price. `custom`: the payer writes the amount within bounds; null = no bound. */
  readonly amount:
    | { readonly kind: 'fixed'; readonly value: string }
    | { readonly kind: 'custom'; readonly min: string | null; readonly max: string | null }
}

/** What is known about a transaction that a payer asks about. */
export const HASH_VERDICTS = [
  'counted',
  'confirming',
  'late',
  'not_counted',
  'too_small',
  'wrong_asset',
  'wrong_network',
  'gone',
  'elsewhere',
  'not_ours',
  'failed',
  'unconfirmed',
  'not_read_yet',
  'unknown',
  'cannot_look',
] as const
export type HashVerdict = (typeof HASH_VERDICTS)[number]

/** The answer to "I paid and nothing happens". */
export interface HashAnswer {
  readonly verdict: HashVerdict
  /** Where it was found; null when it was found nowhere. */
  readonly network: NetworkId | null
  readonly confirmations: number | null
  readonly requiredConfirmations: number | null
}
