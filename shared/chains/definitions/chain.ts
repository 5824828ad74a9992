import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ConfirmationTier } from '#shared/domain/payment/confirmation-tiers.ts'

/** What sets one network apart from the others of its family. Data only: nothing in the code branches on an `id`. */
export interface ChainDefinition {
  readonly id: NetworkId
  readonly family: Family
  readonly name: string
  /** EIP-155 chain ids; null for a family without them. Test is the public testnet; a local node overrides it. */
  readonly chainIds: Readonly<Record<Mode, number>> | null
  readonly nativeSymbol: string
  /** Usual time between blocks, milliseconds: sets how often the scanner asks. */
  readonly blockTimeMs: number
  /** Confirmations that count as safe for an ordinary invoice: the figure that `GET /currencies` shows. */
  readonly confirmations: number
  /** What invoices ask for by default, by their value; frozen on an invoice when its asset is locked. Ascends from 0 USD. */
  readonly confirmationTiers: readonly ConfirmationTier[]
  /** Usual time until the chain itself calls a block final, milliseconds; null where it never does. */
  readonly finalizesAfterMs: number | null
  /** True where a payment confirms only in a block that the chain itself calls final: TRON's solid blocks, Solana's finalized slots. */
  readonly confirmsByFinality: boolean
  /** Blocks a reorganisation may reach back before the scanner halts and asks a person. */
  readonly finalityDepth: number
  /**
   * Most blocks that a scanner reads and commits in one step. On EVM also the most that one request for logs spans;
   * providers with a lower limit are met by splitting.
   */
  readonly scanBatchMax: number
  /** Block explorer page of a transaction with `{tx}` in place of its id; null where there is none. */
  readonly explorerTx: Readonly<Record<Mode, string | null>>
  /** Scheme of payment links: BIP 21, EIP-681, Solana Pay; TRON has no standard of its own. */
  readonly uriScheme: string
  /** Bytes in front of a receiving address by mode: bech32 prefix (BIP 173) or base58check version. Null when the family has one form. */
  readonly addressPrefix: Readonly<Record<Mode, AddressPrefix>> | null
  /** Tokens that payers mistake for ours: recorded for support, never credited. */
  readonly siblings: readonly SiblingToken[]
  /** How coins that move inside of contract calls are seen; EVM only, absent for every other family. */
  readonly coinLedger?: CoinLedger
  /** Consensus figures of a chain whose coins are transaction outputs; absent for every other family. */
  readonly outputs?: OutputChainRules
}

/**
 * What shows coins that move inside of contract calls: the network's own logs of every move, traces of its blocks, the
 * balances of accounts that are waited at, or nothing, so that only what transactions send themselves is seen.
 */
export type CoinLedger = 'logs' | 'trace' | 'balance' | 'none'

/** What sets one descendant of Bitcoin apart from the others. Version bytes are those of base58check addresses. */
export interface OutputChainRules {
  /** Hash of block 0: which chain a node is on. */
  readonly genesisHash: Readonly<Record<Mode, string>>
  readonly pubKeyHashVersion: Readonly<Record<Mode, number>>
  readonly scriptHashVersion: Readonly<Record<Mode, number>>
  /** Confirmations before a miner may spend a block's reward. */
  readonly coinbaseMaturity: number
  /** Blocks may carry the proof of work of another chain (merged mining). */
  readonly auxPow: boolean
  /** Blocks may carry a confidential extension block whose coins come back as ordinary outputs (MWEB). */
  readonly mweb: boolean
}

/** `bech32` gives P2WPKH addresses, `base58` gives P2PKH addresses with that version byte. */
export type AddressPrefix =
  | { readonly kind: 'bech32'; readonly hrp: string }
  | { readonly kind: 'base58'; readonly version: number }

/**
 * A token that looks like an accepted one but is another contract. `contract` in the network's own spelling: EIP-55 on EVM,
 * base58check (`T…`) on TRON, the mint in base58 on Solana.
 */
export interface SiblingToken {
  readonly symbol: string
  readonly contract: string
}

/** One asset of the registry. The network and the symbol are parts of its id. */
export interface AssetRow {
  readonly name: string
  /** Contract or mint on the live network in its canonical spelling; null for the network's own coin. */
  readonly contract: string | null
  /** Base units per unit, as a power of ten, as the contract itself reports. */
  readonly decimals: number
  /** Decimals a payer is shown; amounts due are rounded up to it. */
  readonly displayDecimals: number
  /** Smallest amount an invoice may ask for, decimal asset units. */
  readonly minimum: string
  /** Transfers below this are worth less than moving them costs, decimal asset units. */
  readonly dust: string
}

/** Where one network's nodes are in one mode, and what they override. `null` and absent mean the registry's figure. */
export interface NodeSettings {
  readonly rpcUrls: readonly string[]
  readonly chainId?: number | null | undefined
  readonly confirmations?: number | null | undefined
  readonly contracts?: Readonly<Partial<Record<AssetId, string | undefined>>> | undefined
  /** How coins inside of contract calls are seen; when given, nothing is scanned without it or in another way. EVM networks only. */
  readonly coinLedger?: CoinLedger | null | undefined
  /** Hash of block 0 that a node of the Bitcoin family, of TRON or of Solana must have; `any` accepts every local chain. */
  readonly genesis?: string | null | undefined
}

/** Configured nodes by mode and network; an absent network has no node in that mode. */
export type NetworkSettings = Readonly<Record<Mode, Readonly<Partial<Record<NetworkId, NodeSettings | undefined>>>>>
