import type { FactComparison, RowAge } from '#shared/contracts/chain-status.ts'
import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ConfirmationTier } from '#shared/domain/payment/confirmation-tiers.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { ChainMeasurements, ScanMode } from './cursors.ts'

/** One asset for use cases: the registry's row with this installation's network settings applied. */
export interface AssetInfo {
  readonly id: AssetId
  readonly network: NetworkId
  readonly family: Family
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** Decimals shown to a payer; amounts due are rounded up to them. */
  readonly displayDecimals: number
  /** Minimum amount of an invoice, base units. */
  readonly minBase: bigint
  /** Largest amount that one transfer of it can carry on its chain, base units. */
  readonly maxBase: bigint
  /** Transfers below this are worth less than the cost of spending them, or the chain relays none; base units, at least one display unit. */
  readonly dustBase: bigint
}

/** What a payer's wallet needs to add a network. Nothing of it belongs to the installation. */
export interface PublicNetwork {
  readonly name: string
  readonly rpcUrl: string
  /** Start page of the block explorer. */
  readonly explorerUrl: string
  readonly coin: string
}

/** How the settings have a network scanned. */
export interface ScanChoice {
  readonly source: ScanMode
  /** Why, as one sentence for people. Names hosts or providers of nodes, and nothing else of their URLs. */
  readonly why: string
}

/** What was measured of each network, from memory; null where nothing was. */
export interface ChainPaces {
  of(network: NetworkId, mode: Mode): ChainMeasurements | null
}

/** Figures of a network at a pace. */
export interface ChainFigures {
  /** False while they are those of the network's row. */
  readonly isMeasured: boolean
  /** Between two blocks. */
  readonly blockTimeMs: Ms
  /** Until a block is final; null where none ever is. */
  readonly finalizesAfterMs: Ms | null
  /** Blocks of a reorganisation beyond which the scanner halts until a person decides. */
  readonly finalityDepth: number
}

/** The chains and assets of this installation, built once from the registry and the configuration. */
export interface Catalog {
  asset(id: AssetId): AssetInfo
  /** A token that payers mistake for an asset, by its contract in the network's spelling; null for any other one. */
  sibling(network: NetworkId, contract: string): Pick<AssetInfo, 'symbol' | 'decimals' | 'dustBase'> | null
  /** Contract or mint that carries the token in this mode; null for the native coin. */
  contract(id: AssetId, mode: Mode): string | null
  /** False for a token that has no contract on the public testnet of this mode's nodes. Whether a node has the contract is not asked. */
  accepts(id: AssetId, mode: Mode): boolean
  /** Default confirmations for an ordinary invoice in this mode at the measured pace (development networks require fewer). */
  confirmations(id: AssetId, mode: Mode): number
  /** Default confirmations by value in this mode at the measured pace; never empty, ascends from 0 USD. */
  confirmationTiers(id: AssetId, mode: Mode): readonly ConfirmationTier[]
  /** Measured time until a block of this network is final, milliseconds, or the row's until it is measured; null where none ever is. */
  finalizesAfterMs(network: NetworkId, mode: Mode): number | null
  /** Payments on this network confirm only in finalized blocks. */
  needsFinality(network: NetworkId): boolean
  /** The chain finalizes blocks. Elsewhere a payment that requires finality would wait forever. */
  knowsFinality(network: NetworkId): boolean
  /** A node is configured, so a scanner watches the network in this mode. */
  hasNode(network: NetworkId, mode: Mode): boolean
  /** How a scanner reads the network in this mode, by setting or by default; null without a node and where this process does not hold its URLs. */
  scanChoice(network: NetworkId, mode: Mode): ScanChoice | null
  /** Measured time between two blocks, milliseconds, or the row's until it is measured; within a twentieth and twenty times the row's. */
  blockTimeMs(network: NetworkId, mode: Mode): number
  /** A network's figures at this pace; with null those of its row. */
  figures(network: NetworkId, measured: ChainMeasurements | null): ChainFigures
  /** The network's row beside what was measured. */
  compareFacts(network: NetworkId, measured: ChainMeasurements | null): FactComparison[]
  /** The age of the network's row at that moment. */
  rowAge(network: NetworkId, now: Ms): RowAge
  /** EIP-155 id of the network that this mode uses; null for networks without one. */
  chainId(network: NetworkId, mode: Mode): number | null
  /** The public network behind a chain id; null for a local chain and for networks without chain ids. */
  publicNetwork(network: NetworkId, mode: Mode): PublicNetwork | null
  /** The chain's name among wallets in a browser, such as `solana:mainnet`; null where it has none. */
  walletChain(network: NetworkId, mode: Mode): string | null
  /** BIP 21, EIP-681 or Solana Pay link for a payment; the plain address where wallets agree on no link (TRON). */
  paymentUri(request: {
    asset: AssetId
    mode: Mode
    address: string
    amountBase: bigint
    /** 32 bytes as lower-case hex that the payment must include; only Solana Pay has such a field. */
    reference?: string
  }): string
  explorerTxUrl(network: NetworkId, mode: Mode, txHash: string): string | null
}

export interface DerivedAddress {
  readonly index: number
  readonly address: string
  /** Lower-case hex of the receiving script or address bytes. */
  readonly matchKey: string
}

/** Additional input of a person with an extended key. */
export interface KeyRequest {
  /** Required where the key's version bytes leave it open. */
  readonly scriptType?: ScriptType
  /** Position of the key (BIP 32), such as `m/0'`. Required for keys that are not at account level. */
  readonly path?: string
}

/** A key with everything that determines its addresses. */
export interface AccountKey {
  /**
   * The canonical text of this key and its script type: `xpub…`, or an output descriptor (BIP 380) around it. Passed to `derive`,
   * and stored sealed.
   */
  readonly xpub: string
  /** First 32 hex digits of the SHA-256 of `xpub`. */
  readonly fingerprint: string
  /** Null where addresses are not output scripts. */
  readonly scriptType: ScriptType | null
  /** Position of the key as far as it is known: receiving addresses are `<path>/0/<index>`. */
  readonly path: string
}

/** Public-key derivation for every family; it never handles a private key. */
export interface AddressBook {
  /**
   * Every account that a pasted extended public key may denote: one, or one for each script type where neither the key nor
   * `wish` decides. Never empty. Throws `PaymeshError('VALIDATION_ERROR')` with path `value`, `scriptType` or `path` and a
   * message that names the problem; a private key gets its own message and is never echoed.
   */
  readings(family: Family, mode: Mode, value: string, request?: KeyRequest): readonly AccountKey[]
  /** The one account that a pasted key denotes. Throws as `readings`, and with the choices when several are left. */
  normalise(family: Family, mode: Mode, value: string, request?: KeyRequest): AccountKey
  /** Position of the key of a stored text, such as `m/84'/0'/0'`; null where it is at no usual place. Never throws for a stored text. */
  accountPath(family: Family, mode: Mode, xpub: string): string | null
  /** Addresses `from` … `from + count − 1` of the external chain. */
  derive(family: Family, mode: Mode, xpub: string, from: number, count: number): readonly DerivedAddress[]
  /**
   * Compares the first five addresses of a key with those of a second library. Throws an Error when one differs: nothing
   * may be issued then.
   */
  verify(family: Family, mode: Mode, xpub: string): void
  /**
   * The distinct receiving addresses of a pasted list in their order, and how many entries repeated one. Throws
   * `PaymeshError('VALIDATION_ERROR')` with path `value` that names each wrong line and repeats none of its text.
   */
  parseAddresses(
    family: Family,
    value: string,
  ): { readonly addresses: readonly Omit<DerivedAddress, 'index'>[]; readonly repeated: number }
  /**
   * Whether the private key of an address (`matchKey`, hex) signed a text, in a form that wallets of the family use; false
   * otherwise. Never throws.
   */
  verifyControl(family: Family, matchKey: string, text: string, signature: string): boolean
  /** The built-in sandbox key of test mode for a family. */
  sandboxKey(family: Family): Pick<AccountKey, 'xpub' | 'fingerprint' | 'scriptType'>
}
