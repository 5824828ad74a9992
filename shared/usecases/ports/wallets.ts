import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** One record per installation, mode and fingerprint of an extended public key. */
export interface KeyMaterial {
  /** `<mode>:<family>:<fingerprint>`. */
  readonly id: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: 'xpub'
  /** SHA-256 of the normalised key, hex, first 32 characters. */
  readonly fingerprint: string
  /** AES-256-GCM envelope of the normalised xpub. */
  readonly sealed: string
  /** True for the built-in sandbox wallet of test mode. */
  readonly sandbox: boolean
  /** Next index that has never been offered. */
  readonly nextIndex: number
  /** Addresses 0 … derivedCount−1 exist in `addresses`. */
  readonly derivedCount: number
  /** Indexes offered more than an hour ago that no invoice claimed; offered first. */
  readonly returned: readonly number[]
  readonly createdAt: Ms
}

/** A workspace's right to receive on networks of a family with some key material. */
export interface Wallet {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  readonly networks: readonly NetworkId[]
  readonly kind: 'xpub'
  readonly materialId: string
  readonly createdAt: Ms
  readonly disabledAt: Ms | null
}

/** A receiving address = a watch. It exists before it is issued. */
export interface WatchedAddress {
  readonly mode: Mode
  readonly family: Family
  /** Lower-case hex of the receiving script or address bytes. */
  readonly matchKey: string
  readonly address: string
  readonly materialId: string
  readonly index: number
  /** Networks whose scanner has this address in its index. */
  readonly watchedOn: readonly NetworkId[]
}

export interface WalletRepository {
  /** Inserts the material if it is new; returns the stored record and whether others use it already. */
  upsertMaterial(material: KeyMaterial): Promise<KeyMaterial>
  findMaterial(id: string): Promise<KeyMaterial | null>
  listMaterials(): Promise<readonly KeyMaterial[]>
  insertWallet(wallet: Wallet): Promise<'inserted' | 'exists'>
  listWallets(workspaceId: string | null): Promise<readonly Wallet[]>
  /** Workspaces with a wallet on this material, for owners' mails. */
  workspacesUsing(materialId: string): Promise<readonly string[]>
  /**
   * Takes up to `count` indexes for this process: returned ones first, then new ones below `derivedCount`.
   * Empty when nothing derived is left.
   */
  reserveIndexes(materialId: string, count: number): Promise<readonly number[]>
  addressesAt(materialId: string, indexes: readonly number[]): Promise<readonly WatchedAddress[]>
  /** The addresses behind match keys, to find whose key material received unexpected money; unknown keys are left out. */
  findAddresses(mode: Mode, family: Family, matchKeys: readonly string[]): Promise<readonly WatchedAddress[]>
  /** Inserts derived addresses (existing ones are left alone), then raises derivedCount to at least `derivedCount`. */
  addDerived(materialId: string, addresses: readonly WatchedAddress[], derivedCount: number): Promise<void>
  /** Puts indexes back that stayed without an invoice. */
  returnIndexes(materialId: string, indexes: readonly number[]): Promise<void>
  /** Watches of a mode and family in pages of insertion order, for hydration. */
  watchPage(
    mode: Mode,
    family: Family,
    afterMatchKey: string | null,
    limit: number,
  ): Promise<readonly { matchKey: string }[]>
  /** Rows that lack a network's mark. */
  unmarkedWatches(
    mode: Mode,
    family: Family,
    network: NetworkId,
    limit: number,
  ): Promise<readonly { matchKey: string }[]>
  markWatched(mode: Mode, family: Family, network: NetworkId, matchKeys: readonly string[]): Promise<void>
}
