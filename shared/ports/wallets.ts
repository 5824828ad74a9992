import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { ListedAddress, WatchedAddress } from './addresses.ts'
import type { AuditRecord, AuditWrite } from './audit.ts'
import type { KeyMaterial } from './key-material.ts'

export type { Wallet } from '#shared/db/wallets/wallet-models.ts'

export interface WalletRepository {
  /** Inserts the material if it is new; returns the stored record and whether others use it already. */
  upsertMaterial(material: KeyMaterial): Promise<KeyMaterial>
  findMaterial(id: string): Promise<KeyMaterial | null>
  listMaterials(): Promise<readonly KeyMaterial[]>
  /** Whether an extended key has fewer than `headroom` addresses beyond the next one to be offered, or its earlier use is being searched. */
  isAnyBehind(headroom: number): Promise<boolean>
  /** Whether a key continues at an index below which addresses are still to be derived: nobody watches those yet. */
  isAnyUnderived(): Promise<boolean>
  /** Whether a key waits for a network to be asked about its earlier use. */
  isAnyAwaited(): Promise<boolean>
  insertWallet(wallet: Wallet): Promise<'inserted' | 'exists'>
  listWallets(workspaceId: string | null): Promise<readonly Wallet[]>
  findWallet(id: string): Promise<Wallet | null>
  /**
   * Ends or allows new quotes on a wallet; null when unknown. Setting the present state changes nothing, the time included.
   * A change is stored together with its audit row if one is given.
   */
  setDisabled(id: string, disabledAt: Ms | null, recorded?: AuditRecord | AuditWrite): Promise<Wallet | null>
  /** Proofs of control by subject, with ids from `addressSubject` and `keySubject`; unproved subjects are left out. */
  findProofs(subjects: readonly string[]): Promise<ReadonlyMap<string, OwnershipProof>>
  /** Workspaces with a wallet on this material, for owners' mails; without displaced ones. */
  workspacesUsing(materialId: string): Promise<readonly string[]>
  /**
   * Takes up to `count` indexes for this process: returned ones first, then new ones below `derivedCount`.
   * Empty when no derived ones are left, while the key's history is searched, and while its next index is below `lowestNextIndex` (default 0).
   */
  reserveIndexes(materialId: string, count: number, lowestNextIndex?: number): Promise<readonly number[]>
  addressesAt(materialId: string, indexes: readonly number[]): Promise<readonly WatchedAddress[]>
  /** The addresses behind match keys, to find whose key material received unexpected money; unknown keys are left out. */
  findAddresses(mode: Mode, family: Family, matchKeys: readonly string[]): Promise<readonly WatchedAddress[]>
  /** Inserts derived addresses (existing ones are unchanged), then raises derivedCount to at least `derivedCount`. */
  addDerived(materialId: string, addresses: readonly WatchedAddress[], derivedCount: number): Promise<void>
  /**
   * Inserts addresses that a person listed and adds `materialId` to their holders; repeating it changes nothing. Rows whose
   * address belongs to material of another kind are unchanged and their match keys returned. `offeredFrom` keeps those that
   * this material did not hold yet from being offered before.
   */
  addListed(materialId: string, rows: readonly ListedAddress[], offeredFrom?: Ms | null): Promise<readonly string[]>
  /** Addresses that a material holds in the order of their match keys, after the given one. */
  heldPage(materialId: string, afterMatchKey: string | null, limit: number): Promise<readonly WatchedAddress[]>
  countHeld(materialId: string): Promise<number>
  /** Returns indexes that stayed without an invoice. */
  returnIndexes(materialId: string, indexes: readonly number[]): Promise<void>
  /**
   * Starts a searched key after an index that was used, and searches all its networks again from there. False, and
   * nothing changed, when the key is not searched or already starts after this index.
   */
  recordUsedIndex(materialId: string, index: number): Promise<boolean>
  /** Ends the search on a network that found no use from `startIndex` on. False when the key has another start by now, or does not wait for this network. */
  endHistorySearch(materialId: string, network: NetworkId, startIndex: number): Promise<boolean>
  /**
   * Replaces the search by an operator's start index, never below a used or offered index. False, and nothing changed, when
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
  /** Watches that are in no pack, in the order of their match keys; `isListed`: a person entered the address. */
  hotWatchPage(
    mode: Mode,
    family: Family,
    afterMatchKey: string | null,
    limit: number,
  ): Promise<readonly { matchKey: string; isListed: boolean }[]>
  /** The match keys of `hotWatchPage` alone, which cost a scanner's start an eighth of their documents. */
  hotWatchKeys(mode: Mode, family: Family, afterMatchKey: string | null, limit: number): Promise<readonly string[]>
  /** Marks addresses that are in a stored pack: `hotWatchPage` leaves them out from then on. */
  markPacked(mode: Mode, family: Family, matchKeys: readonly string[]): Promise<void>
  /** Rows that lack a network's mark. */
  unmarkedWatches(
    mode: Mode,
    family: Family,
    network: NetworkId,
    limit: number,
  ): Promise<readonly { matchKey: string }[]>
  markWatched(mode: Mode, family: Family, network: NetworkId, matchKeys: readonly string[]): Promise<void>
}
