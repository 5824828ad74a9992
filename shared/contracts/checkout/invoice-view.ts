import type { ShortKind } from '#shared/domain/books/invoice-books.ts'
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

/** The merchant, as far as a payer may see it. */
export interface MerchantView {
  readonly name: string
  /** E-mail or web address for payers' questions; null without one. */
  readonly contact: string | null
  /** Null without one. */
  readonly logo: LogoView | null
  /** `#rrggbb`, as the merchant chose it; null without one. Pages adjust it until text can be read. */
  readonly colour: string | null
}

/** A picture that the checkout serves itself. */
export interface LogoView {
  /** A path of the checkout's own origin. */
  readonly path: string
  readonly width: number
  readonly height: number
  /** The ground on which it can be seen. */
  readonly ground: 'light' | 'dark'
}

/** An amount of fiat: plain decimal text with exactly the currency's decimals. */
export interface FiatView {
  readonly value: string
  readonly currency: FiatCode
}

/** The chosen asset, amount and address. Amounts are decimal text of the asset, never to be rounded again. */
export interface PaymentMethodView {
  readonly asset: AssetId
  readonly symbol: string
  readonly network: NetworkId
  readonly family: Family
  /** False for the native coin. */
  readonly isToken: boolean
  readonly address: string
  /** Price of the whole invoice in this asset: what was paid so far, plus the rest at the current price. */
  readonly due: string
  /** Amount still to be sent; `0` when nothing is. */
  readonly remaining: string
  readonly remainingBase: string
  /** A wallet link for exactly the remaining amount; null where the network has no common format, or nothing is due. */
  readonly uri: string | null
  /** The amount identifies this invoice among others on the same address: it must be exact. */
  readonly isExact: boolean
  readonly requiredConfirmations: number
  /** The block of a payment must also be finalized by the chain. */
  readonly needsFinality: boolean
  /** Usual time from a payment's block to its confirmation, milliseconds. */
  readonly confirmMs: number
  readonly blockTimeMs: number
  /** Fiat per one unit of the asset, every digit used. */
  readonly fiatPerAsset: string
  readonly quotedAt: number
  readonly quoteEndsAt: number
  /** For wallets in the browser; null where there are none. */
  readonly evm: {
    readonly chainId: number
    readonly contract: string | null
    /** What a wallet needs to add the network; null for a local chain. */
    readonly addition: {
      readonly name: string
      readonly rpcUrl: string
      readonly explorerUrl: string
      readonly coin: string
    } | null
  } | null
  /** For other wallets in the browser: their name of the chain and the token's contract or mint; null where there are none. */
  readonly browser?: { readonly chain: string; readonly contract: string | null } | null
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

/** A transaction that a payer's wallet says it sent; no block shows it yet, and it counts for nothing. */
export interface HintView {
  readonly txHash: string
  readonly explorerUrl: string | null
  readonly at: number
}

/** An amount of a coin on a network. */
export interface CoinView {
  readonly amount: string
  readonly symbol: string
  readonly network: NetworkId
}

/** Money that was sent back. */
export interface RefundedView extends CoinView {
  readonly txHash: string | null
  readonly explorerUrl: string | null
  readonly at: number
}

/** Confirmed money beside the price, at the price's rate: `price = received + short - excess`. */
export interface BooksView {
  readonly received: FiatView
  /** Null when nothing is missing, with `shortKind` that says why something is. */
  readonly short: FiatView | null
  readonly shortKind: ShortKind | null
  readonly excess: FiatView | null
  readonly refunded: FiatView | null
  /** What came and counts, each coin for itself. */
  readonly coins: readonly CoinView[]
  readonly refunds: readonly RefundedView[]
}

/** Everything that a payer sees of an invoice. Times are Unix milliseconds of the store's clock. */
export interface InvoiceView {
  readonly id: string
  readonly mode: Mode
  readonly number: number
  readonly status: InvoiceStatus
  /** Increases with every change of the invoice, and of what is refunded. */
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
  /** The payment link that created it; null otherwise. */
  readonly paymentLinkId: string | null
  readonly paymentMethod: PaymentMethodView | null
  readonly books: BooksView
  /** Sum of everything that arrived in the chosen asset, late money included. */
  readonly received: string
  /** Amount sent beyond the amount due; `0` unless overpaid. */
  readonly excess: string
  readonly payments: readonly PaymentView[]
  /** What wallets announced and the network has not shown yet. */
  readonly hints: readonly HintView[]
  readonly isPaidLate: boolean
  readonly isAcceptedShort: boolean
  /** The time to pay is over and the network has not been read that far: a payment may have arrived. */
  readonly isUnread: boolean
  /** The payer may choose an asset now, or another one. */
  readonly canChoose: boolean
  /** The payer may request a new quote on the same address now, for what is left to pay. */
  readonly canRenew: boolean
}

/** An asset the payer may choose. */
export interface AssetOption {
  readonly asset: AssetId
  readonly symbol: string
  /** Name of the coin. */
  readonly name: string
  readonly network: NetworkId
  /** Current price; null while there is none. */
  readonly estimate: string | null
  /** Confirmations times the usual time between blocks, milliseconds. */
  readonly confirmMs: number
  /** False while the network or its price is unavailable. */
  readonly isAvailable: boolean
}

/** The assets of a price, and how long a quote lasts, milliseconds. */
export interface AssetOptionsView {
  readonly assets: readonly AssetOption[]
  readonly holdMs: number
  /** Why there is none; absent when there is one. */
  readonly none?: NoOption
}

/**
 * Why a price can be paid in no asset: it is below the minimum of each (`least` is the smallest amount that some asset takes now), above
 * the maximum of each (`most`), or the merchant has no wallet. Amounts are plain decimal text in the currency of the price.
 */
export type NoOption =
  | { readonly cause: 'too_small'; readonly least: string }
  | { readonly cause: 'too_large'; readonly most: string }
  | { readonly cause: 'no_wallet' }

/** A payment link as a payer sees it. */
export interface LinkView {
  readonly id: string
  readonly mode: Mode
  readonly isActive: boolean
  /** Inactive because its merchant may not take payments now. */
  readonly isSuspended?: boolean
  /** Inactive because other payers hold every use; one may come back. */
  readonly isUsedUp?: boolean
  /** Seconds until one may come back; absent when payers keep all of them. */
  readonly retryAfter?: number
  readonly merchant: MerchantView
  readonly title: string
  readonly description: string | null
  readonly currency: FiatCode
  /** `fixed`: the price. `custom`: the payer enters the amount within bounds; null = no bound. */
  readonly amount:
    | { readonly kind: 'fixed'; readonly value: string }
    | { readonly kind: 'custom'; readonly min: string | null; readonly max: string | null }
}

/** Possible results for a transaction that a payer asks about. */
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

/** The result for "I paid but nothing happened". */
export interface HashAnswer {
  readonly verdict: HashVerdict
  /** Where it was found; null if nowhere. */
  readonly network: NetworkId | null
  readonly confirmations: number | null
  readonly requiredConfirmations: number | null
}
