import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { AuditRecord, Noted } from './audit.ts'
import type { ProofWrite } from './ownership.ts'

/** What a wallet receives with: addresses derived from a key, a list of addresses, or one address with unique amounts. */
export const WALLET_KINDS = ['xpub', 'pool', 'address'] as const
export type WalletKind = (typeof WALLET_KINDS)[number]

/**
 * What is known of the use of an extended key before it was added. While it is searched, none of its addresses is offered;
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
  /** Start index that a person gave instead of a search; null when nobody did. */
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
  /** AES-256-GCM envelope of the key's text as `AddressBook` gives it; empty for the other kinds. */
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
  /** Which output scripts its addresses are, for people to read; absent = the former type of the family. `sealed` decides. */
  readonly scriptType?: ScriptType
  /** Absent for keys that were added before there was a search, and for those that are not searched. */
  readonly history?: KeyHistory
  readonly createdAt: Ms
}

/** A workspace's right to receive on networks of a family with some key material. */
export interface Wallet {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  readonly networks: readonly NetworkId[]
  readonly kind: WalletKind
  readonly materialId: string
  readonly createdAt: Ms
  readonly disabledAt: Ms | null
  /** From when on locks are offered from it; absent = since it was created. It is derived and watched before. */
  readonly effectiveAt?: Ms
  /** When another workspace proved control of its key or address: it is disabled then, and needs a proof to be enabled. */
  readonly displacedAt?: Ms
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
  /** Materials of the pools, or of the single-address wallet, that hold this address; absent for derived ones. */
  readonly heldBy?: readonly string[]
  /** From when on a pool may offer it, by material; absent = since it was added. */
  readonly offeredFrom?: Readonly<Record<string, Ms>>
}

/** An address as a person lists it. `materialId` says in which manner it is used: it is the same for all who use it so. */
export type ListedAddress = Pick<WatchedAddress, 'mode' | 'family' | 'matchKey' | 'address' | 'materialId'>

export interface WalletRepository {
  /** Inserts the material if it is new; returns the stored record and whether others use it already. */
  upsertMaterial(material: KeyMaterial): Promise<KeyMaterial>
  findMaterial(id: string): Promise<KeyMaterial | null>
  listMaterials(): Promise<readonly KeyMaterial[]>
  insertWallet(wallet: Wallet): Promise<'inserted' | 'exists'>
  listWallets(workspaceId: string | null): Promise<readonly Wallet[]>
  findWallet(id: string): Promise<Wallet | null>
  /**
   * Ends or allows new locks on a wallet; null when unknown. Setting what is set already changes nothing, the time included.
   * A change is stored together with its audit row when one is given.
   */
  setDisabled(id: string, disabledAt: Ms | null, audit?: AuditRecord): Promise<Wallet | null>
  /** Proofs of control by subject, as `addressSubject` and `keySubject` name them; what nobody proved is left out. */
  findProofs(subjects: readonly string[]): Promise<ReadonlyMap<string, OwnershipProof>>
  /** Workspaces with a wallet on this material, for owners' mails; without those whom a proof displaced. */
  workspacesUsing(materialId: string): Promise<readonly string[]>
  /**
   * Takes up to `count` indexes for this process: returned ones first, then new ones below `derivedCount`.
   * Empty when nothing derived is left, and while the key's history is searched.
   */
  reserveIndexes(materialId: string, count: number): Promise<readonly number[]>
  addressesAt(materialId: string, indexes: readonly number[]): Promise<readonly WatchedAddress[]>
  /** The addresses behind match keys, to find whose key material received unexpected money; unknown keys are left out. */
  findAddresses(mode: Mode, family: Family, matchKeys: readonly string[]): Promise<readonly WatchedAddress[]>
  /** Inserts derived addresses (existing ones are left alone), then raises derivedCount to at least `derivedCount`. */
  addDerived(materialId: string, addresses: readonly WatchedAddress[], derivedCount: number): Promise<void>
  /**
   * Inserts addresses that a person listed and adds `materialId` to who holds them; repeating it changes nothing. Rows whose
   * address belongs to material of another kind are left alone and their match keys returned. `offeredFrom` keeps those that
   * this material did not hold yet from being offered before.
   */
  addListed(materialId: string, rows: readonly ListedAddress[], offeredFrom?: Ms | null): Promise<readonly string[]>
  /** Addresses that a material holds in the order of their match keys, after the given one. */
  heldPage(materialId: string, afterMatchKey: string | null, limit: number): Promise<readonly WatchedAddress[]>
  countHeld(materialId: string): Promise<number>
  /** Puts indexes back that stayed without an invoice. */
  returnIndexes(materialId: string, indexes: readonly number[]): Promise<void>
  /**
   * Starts a key that is searched behind an index that was used, and searches all its networks again from there. False, and
   * nothing changed, when the key is not searched or starts behind this index already.
   */
  recordUsedIndex(materialId: string, index: number): Promise<boolean>
  /** Ends the search on a network that saw no use from `startIndex` on. False when the key has another start by now, or does not wait for this network. */
  endHistorySearch(materialId: string, network: NetworkId, startIndex: number): Promise<boolean>
  /**
   * Lets a person's start index stand for the search, never below what was found or offered. False, and nothing changed, when
   * addresses of the key have been offered.
   */
  setStartIndex(materialId: string, startIndex: number): Promise<boolean>
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

/** Addresses that an action adds to a material, in the same transaction as its audit row. */
export interface Listing {
  readonly materialId: string
  readonly rows: readonly ListedAddress[]
  readonly offeredFrom: Ms | null
}

/**
 * What people do to wallets, each stored together with the proof that it needs, the addresses it adds and what is noted about it:
 * all or nothing. Throws `INVALID_STATE` when somebody else took one of the addresses in another way in this moment, and what
 * storing a proof throws.
 */
export interface WalletDeeds {
  /** False when this deed was noted before, or the workspace has a wallet on this material; then nothing is stored. */
  insert(wallet: Wallet, noted: Noted, listings: readonly Listing[], proof?: ProofWrite | null): Promise<boolean>
  /** Changes a wallet that is still disabled since `from` (null = enabled); false when it is not, or the deed was noted before. */
  change(
    id: string,
    from: Ms | null,
    to: { readonly disabledAt: Ms | null; readonly effectiveAt: Ms | null },
    noted: Noted,
    listings: readonly Listing[],
    proof?: ProofWrite | null,
  ): Promise<boolean>
  /** Notes what changed nothing of the wallet itself: more addresses in its pool. */
  note(noted: Noted, listings: readonly Listing[], proof?: ProofWrite | null): Promise<boolean>
  /** Whether an action with this audit row was carried out. */
  isRecorded(auditId: string): Promise<boolean>
}
