import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'

/** Sources of a wallet's addresses: derived from a key, a list of addresses, or one address with unique amounts. */
export const WALLET_KINDS = ['xpub', 'pool', 'address'] as const

export type WalletKind = (typeof WALLET_KINDS)[number]

/**
 * Known use of an extended key before it was added. While it is searched, none of its addresses is offered;
 * indexes below `startIndex` never are.
 */
export interface KeyHistory {
  readonly state: 'searching' | 'known'
  /** Networks whose search has not ended; empty once the state is `known`. */
  readonly waitingFor: readonly NetworkId[]
  /** Networks that showed no use of the indexes from `startIndex` on. */
  readonly searched: readonly NetworkId[]
  /** Highest index that a network showed as used; null when none did. */
  readonly lastUsedIndex: number | null
  readonly startIndex: number
  /** Start index that an operator entered instead of a search; null without one. */
  readonly givenIndex: number | null
}

/** One record per installation and mode of an extended public key, of a workspace's pool, or of a single address. */
export interface KeyMaterial {
  /** `<mode>:<family>:<fingerprint>`, `<mode>:<family>:pool:<workspace>` or `<mode>:<family>:address:<matchKey>`. */
  readonly id: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: WalletKind
  /** SHA-256 of the key's text with its script type (of the rest of the id when there is no key), hex, first 32 characters. */
  readonly fingerprint: string
  /** AES-256-GCM envelope of the key's text from `AddressBook`; empty for the other kinds. */
  readonly sealed: string
  /** True for the built-in sandbox wallet of test mode. */
  readonly sandbox: boolean
  /** Next index that has never been offered. */
  readonly nextIndex: number
  /** Addresses 0 … derivedCount−1 exist in `addresses`. */
  readonly derivedCount: number
  /** Indexes offered more than an hour ago that no invoice claimed; offered first. */
  readonly returned: readonly number[]
  /** Indexes below it are never offered again, with or without an invoice; absent = 0. Set when an installation was restored. */
  readonly reclaimFrom?: number
  /** The output script type of its addresses, shown to people; null where addresses are not scripts. `sealed` decides. */
  readonly scriptType: ScriptType | null
  /** Absent for keys that are not searched. */
  readonly history?: KeyHistory
  readonly createdAt: Ms
}
