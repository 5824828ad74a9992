import type { ConfirmationTier } from '#shared/domain/confirmation-tiers.ts'
import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** One asset as use cases need it: the registry's row with this installation's network settings applied. */
export interface AssetInfo {
  readonly id: AssetId
  readonly network: NetworkId
  readonly family: Family
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** Decimals a payer is shown; amounts due are rounded up to it. */
  readonly displayDecimals: number
  /** Smallest amount an invoice may ask for, base units. */
  readonly minBase: bigint
  /** Transfers below this are worth less than spending them costs, base units. */
  readonly dustBase: bigint
}

/** The chains and assets of this installation, built once from the registry and the configuration. */
export interface Catalog {
  asset(id: AssetId): AssetInfo
  /** Contract or mint that carries the token in this mode; null for the native coin. */
  contract(id: AssetId, mode: Mode): string | null
  /** Default confirmations for an ordinary invoice in this mode (development networks ask for fewer). */
  confirmations(id: AssetId, mode: Mode): number
  /** Default confirmations by value in this mode; never empty, ascends from 0 USD. */
  confirmationTiers(id: AssetId, mode: Mode): readonly ConfirmationTier[]
  /** Usual time until a block of this network is final, milliseconds; null where none ever is. */
  finalizesAfterMs(network: NetworkId): number | null
  /** Payments on this network confirm only in blocks that the chain itself calls final. */
  needsFinality(network: NetworkId): boolean
  /** The chain itself says which blocks are final. Where it does not, a payment that waited for that would wait for ever. */
  knowsFinality(network: NetworkId): boolean
  /** A node is configured, hence a scanner watches the network in this mode. */
  hasNode(network: NetworkId, mode: Mode): boolean
  /** Usual time between two blocks, milliseconds. */
  blockTimeMs(network: NetworkId): number
  /** EIP-155 id of the network that this mode uses; null for networks without one. */
  chainId(network: NetworkId, mode: Mode): number | null
  /** BIP21, EIP-681, Solana Pay or `tron:` link for a payment. Throws RangeError on more decimals than the asset has. */
  paymentUri(request: {
    asset: AssetId
    mode: Mode
    address: string
    amount: string
    amountBase: bigint
    /** 32 bytes as lower-case hex that the payment shall name; only Solana Pay has such a field. */
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

/** Public-key derivation for one family; no private key ever enters. */
export interface AddressBook {
  /**
   * Normalises an extended public key pasted by a person. Throws `PaymeshError('VALIDATION_ERROR')` with path
   * `value` and a message that names the problem; a private key gets its own message and is never echoed.
   */
  normalise(family: Family, mode: Mode, value: string): { readonly xpub: string; readonly fingerprint: string }
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
  /** The built-in sandbox key of test mode for a family. */
  sandboxKey(family: Family): { readonly xpub: string; readonly fingerprint: string }
}
