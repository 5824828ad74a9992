import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { TestnetId } from '#shared/domain/networks.ts'
import type { NodeQuota } from '#shared/domain/nodes/providers.ts'

/** Properties of one network. Data only: nothing in the code branches on an `id`. */
export interface ChainDefinition {
  readonly id: NetworkId
  readonly family: Family
  readonly name: string
  /** EIP-155 chain ids; null for a family without them. Test is the public testnet; a local node overrides it. */
  readonly chainIds: Readonly<Record<Mode, number>> | null
  readonly nativeSymbol: string
  /** The date (`YYYY-MM-DD`) on which, and the sources by which, the figures of this row were last compared with the world. */
  readonly checked: { readonly on: string; readonly source: string }
  /** Time between blocks, milliseconds, until the scanner has measured it. */
  readonly blockTimeMs: number
  /** Who can replace a block that is not final, and what that takes: what the times below guard against. One sentence. */
  readonly risk: string
  /** Depth considered safe for an ordinary invoice. In blocks it is the figure that `GET /currencies` shows. */
  readonly confirmations: Depth
  /** Default depth by invoice value; its blocks are frozen on an invoice when its asset is fixed. Ascends from 0 USD. */
  readonly confirmationTiers: readonly RowTier[]
  /** Time until the chain finalizes a block, milliseconds, until the scanner has measured it; null where it never does. */
  readonly finalizesAfterMs: number | null
  /** True where a payment confirms only in a finalized block: TRON's solid blocks, Solana's finalized slots. */
  readonly confirmsByFinality: boolean
  /** Reorganisation beyond which the scanner halts until a person decides. */
  readonly reorganisation: Depth
  /**
   * Most blocks that a scanner reads and commits in one step. On EVM also the maximum range of one log request;
   * for providers with a lower limit, requests are split.
   */
  readonly scanBatchMax: number
  /** Block explorer page of a transaction with `{tx}` in place of its id; null where there is none. */
  readonly explorerTx: Readonly<Record<Mode, string | null>>
  /**
   * Node that anybody may use, for a payer's wallet that lacks the network; EVM only. As lists of public nodes (ethereum-lists/chains) and the
   * sources of public projects name it, read 2026-11-23; none was called. The installation never calls it, and never gives its own node to a payer.
   */
  readonly publicRpc?: Readonly<Record<Mode, string>>
  /** How wallets in a browser name the chain (`local` = a node with its own block 0); absent where they use chain ids or there are none. */
  readonly walletChains?: Readonly<Record<Mode, string>> & { readonly local: string | null }
  /** Scheme of payment links: BIP 21, EIP-681, Solana Pay; null for TRON, where wallets agree on none. */
  readonly uriScheme: string | null
  /** Prefix of a receiving address by mode: bech32 prefix (BIP 173) or base58check version. Null when the family has one form. */
  readonly addressPrefix: Readonly<Record<Mode, AddressPrefix>> | null
  /** Tokens that payers mistake for supported ones: recorded for support, never credited. */
  readonly siblings: readonly SiblingToken[]
  /** The chain logs every transfer of its native coin, also inside contract calls; elsewhere on EVM balances show those. */
  readonly logsCoins?: true
  /** Contract that states what a transaction pays for the chain below; absent where gas includes it, or nothing is paid. */
  readonly l1FeeOracle?: string
  /**
   * Contracts see the number of a block of the chain below instead of their own (Arbitrum: `NUMBER`; docs.arbitrum.io, read 2026-11-28). EVM only.
   */
  readonly numbersAreParents?: boolean
  /** Consensus figures of a chain whose coins are transaction outputs; absent for every other family. */
  readonly outputs?: OutputChainRules
}

/**
 * How deep a block must lie, or may be replaced: for so long, because replacing blocks takes that time, and under at least so many
 * blocks, however slow the chain is or a node says it is.
 */
export interface Depth {
  /** Milliseconds. */
  readonly ms: number
  readonly blocksMin: number
}

/** Depth required on invoices worth at least `fromUsd`; `finalized` waits for the chain's finality in addition to the base depth. */
export interface RowTier {
  /** Whole US dollars. */
  readonly fromUsd: number
  readonly confirmations: Depth | 'finalized'
}

/** Consensus figures of one descendant of Bitcoin. Version bytes are those of base58check addresses. */
export interface OutputChainRules {
  /** Hash of block 0: identifies the chain of a node. */
  readonly genesisHash: Readonly<Record<Mode, string>>
  readonly pubKeyHashVersion: Readonly<Record<Mode, number>>
  readonly scriptHashVersion: Readonly<Record<Mode, number>>
  /** Confirmations before a miner may spend a block's reward. */
  readonly coinbaseMaturity: number
  /** Blocks may carry the proof of work of another chain (merged mining). */
  readonly auxPow: boolean
  /** Blocks may carry a confidential extension block whose coins return as ordinary outputs (MWEB). */
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
  /** An asset of as many decimals whose dust is dust of this token too. */
  readonly like: AssetId
}

/** One asset of the registry. The network and the symbol are parts of its id. */
export interface AssetRow {
  readonly name: string
  /** Contract or mint on the live network in its canonical spelling; null for the native coin. */
  readonly contract: string | null
  /** Base units per unit, as a power of ten, as reported by the contract. */
  readonly decimals: number
  /** Decimals shown to a payer; amounts due are rounded up to them. */
  readonly displayDecimals: number
  /** Minimum amount of an invoice, decimal asset units. */
  readonly minimum: string
  /** Transfers below this are worth less than the cost of moving them, decimal asset units. */
  readonly dust: string
}

/** Nodes of one network in one mode, and their overrides. `null` and absent mean the registry's figure. */
export interface NodeSettings {
  readonly rpcUrls: readonly string[]
  readonly chainId?: number | null | undefined
  readonly confirmations?: number | null | undefined
  readonly contracts?: Readonly<Partial<Record<AssetId, string | undefined>>> | undefined
  /** Hash of block 0 that a node of the Bitcoin family, of TRON or of Solana must have; `any` accepts every local chain. */
  readonly genesis?: string | null | undefined
  /** Which public testnet the nodes are on, in test mode and where a network has several; the first by default. */
  readonly testnet?: TestnetId | null | undefined
  /** `thrifty`: only blocks that open invoices need are read. EVM networks only. Null and absent: whose nodes they are decides (`chooseScan`). */
  readonly source?: 'full' | 'thrifty' | null | undefined
  /** What may be spent on these nodes in a month, and whom that counts. */
  readonly quota?: QuotaSettings | null | undefined
}

/** Calls to hosts of the unit's provider count, and those to `hosts`; with unit `calls` and no hosts, every call. */
export interface QuotaSettings extends NodeQuota {
  /** Host and port, as in a URL, of what stands in front of the provider. */
  readonly hosts?: readonly string[] | undefined
}

/** Configured nodes by mode and network; an absent network has no node in that mode. */
export type NetworkSettings = Readonly<Record<Mode, Readonly<Partial<Record<NetworkId, NodeSettings | undefined>>>>>
