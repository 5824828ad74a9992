import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDateOrNull } from '#shared/db/connection/dates.ts'
import { bulkDuplicates, ignoringDuplicates, unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NetworkId } from '#shared/domain/networks.ts'
import type { OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { ListedAddress } from '#shared/ports/addresses.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import { endedSearch, foundUse, givenStart } from './key-histories.ts'
import { addListedWithin } from './listed-addresses.ts'
import { findProofs } from './ownership-repository.ts'
import {
  ADDRESSES,
  type AddressDocument,
  KEY_MATERIAL,
  type KeyMaterialDocument,
  WALLETS,
  type Wallet,
  type WatchedAddress,
} from './wallet-models.ts'

/** The stored form of a derived address, without holders. */
function addressToDocument({ heldBy: _heldBy, ...address }: WatchedAddress): AddressDocument {
  const watchedOn = [...address.watchedOn].sort()
  return {
    ...address,
    _id: `${address.mode}:${address.family}:${address.matchKey}`,
    watchedOn,
    watchedKey: watchedOn.join(','),
  }
}

/** Keys that have fewer addresses than they should, or whose search may need more. */
const behind = (headroom: number): mongoose.mongo.Filter<KeyMaterialDocument> => ({
  kind: 'xpub',
  $or: [{ $expr: { $lt: ['$derivedCount', { $add: ['$nextIndex', headroom] }] } }, { 'history.state': 'searching' }],
})
/** Keys that continue above addresses that are still to be derived. */
const UNDERIVED: mongoose.mongo.Filter<KeyMaterialDocument> = {
  kind: 'xpub',
  $expr: { $lt: ['$derivedCount', '$nextIndex'] },
}
/** Keys whose earlier use some network has to be asked about. */
const AWAITED: mongoose.mongo.Filter<KeyMaterialDocument> = { 'history.waitingFor': { $gt: '' } }

/** Key material, wallets and watched addresses on MongoDB. */
export function createWalletRepository(db: Database) {
  const materials = db.collection(KEY_MATERIAL)
  const wallets = db.collection(WALLETS)
  const addresses = db.collection(ADDRESSES)
  const findMaterial = async (id: string): Promise<KeyMaterial | null> =>
    KEY_MATERIAL.toRecord(await materials.findOne({ _id: id }))
  const findWallet = async (id: string): Promise<Wallet | null> => WALLETS.toRecord(await wallets.findOne({ _id: id }))
  const withoutId = { projection: { _id: 0 } }
  const keysOnly = { projection: { _id: 0, matchKey: 1 } }

  return {
    /** Inserts the material if it is new; returns the stored record and whether others use it already. */
    upsertMaterial: async (material: KeyMaterial): Promise<KeyMaterial> => {
      const { id } = material
      if (await unlessTaken(() => materials.insertOne(KEY_MATERIAL.toDocument(material)))) return material
      const stored = await materials.findOne({ _id: id }, NEWEST)
      if (stored === null) throw new Error(`key material ${id} exists but cannot be read`)
      return KEY_MATERIAL.toRecord(stored)
    },
    findMaterial,
    listMaterials: async (): Promise<readonly KeyMaterial[]> =>
      (await materials.find().sort({ _id: 1 }).toArray()).map(KEY_MATERIAL.toRecord),
    /** Whether an extended key has fewer than `headroom` addresses beyond the next one to be offered, or its earlier use is being searched. */
    isAnyBehind: (headroom: number): Promise<boolean> => isAny(db, { of: KEY_MATERIAL, filter: behind(headroom) }),
    /** Whether a key continues at an index below which addresses are still to be derived: nobody watches those yet. */
    isAnyUnderived: (): Promise<boolean> => isAny(db, { of: KEY_MATERIAL, filter: UNDERIVED }),
    /** Whether a key waits for a network to be asked about its earlier use. */
    isAnyAwaited: (): Promise<boolean> => isAny(db, { of: KEY_MATERIAL, filter: AWAITED }),
    /**
     * Takes up to `count` indexes for this process: returned ones first, then new ones below `derivedCount`.
     * Empty when no derived ones are left, while the key's history is searched, and while its next index is below `lowestNextIndex` (default 0).
     */
    reserveIndexes: (materialId: string, count: number, lowestNextIndex: number = 0): Promise<readonly number[]> =>
      reserveIndexes(materials, { materialId, count, lowestNextIndex }),
    /** Returns indexes that stayed without an invoice. */
    returnIndexes: async (materialId: string, indexes: readonly number[]): Promise<void> => {
      await materials.updateOne({ _id: materialId }, { $addToSet: { returned: { $each: [...indexes] } } })
    },
    /**
     * Starts a searched key after an index that was used, and searches all its networks again from there. False, and
     * nothing changed, when the key is not searched or already starts after this index.
     */
    recordUsedIndex: async (materialId: string, index: number): Promise<boolean> => {
      const { filter, update } = foundUse(materialId, index)
      return (await materials.updateOne(filter, update)).modifiedCount === 1
    },
    /** Ends the search on a network that found no use from `startIndex` on. False when the key has another start by now, or does not wait for this network. */
    endHistorySearch: async (materialId: string, network: NetworkId, startIndex: number): Promise<boolean> => {
      const { filter, update } = endedSearch(materialId, network, startIndex)
      return (await materials.updateOne(filter, update)).modifiedCount === 1
    },
    /**
     * Replaces the search by an operator's start index, never below a used or offered index. False, and nothing changed, when
     * addresses of the key have been offered.
     */
    setStartIndex: async (materialId: string, startIndex: number): Promise<boolean> => {
      const { filter, update } = givenStart(materialId, startIndex)
      return (await materials.updateOne(filter, update)).matchedCount === 1
    },

    insertWallet: async (wallet: Wallet): Promise<'inserted' | 'exists'> =>
      (await unlessTaken(() => wallets.insertOne(WALLETS.toDocument(wallet)))) ? 'inserted' : 'exists',
    listWallets: async (workspaceId: string | null): Promise<readonly Wallet[]> => {
      const owned = workspaceId === null ? {} : { workspaceId }
      return (await wallets.find(owned).sort({ _id: 1 }).toArray()).map(WALLETS.toRecord)
    },
    findWallet,
    /**
     * Ends or allows new quotes on a wallet; null when unknown. Setting the present state changes nothing, the time included.
     * A change is stored together with its audit row if one is given.
     */
    setDisabled: async (
      id: string,
      disabledAt: Ms | null,
      audit?: AuditRecord | AuditWrite,
    ): Promise<Wallet | null> => {
      const date = toDateOrNull(disabledAt)
      const filter = { _id: id, disabledAt: date === null ? { $ne: null } : null }
      const change = { $set: { disabledAt: date } }
      if (audit === undefined) await wallets.updateOne(filter, change)
      else {
        await audited(db, audit, async (session) => {
          return (await wallets.updateOne(filter, change, { session })).matchedCount === 1
        })
      }
      return await findWallet(id)
    },
    /** Workspaces with a wallet on this material, for owners' mails; without displaced ones. */
    workspacesUsing: (materialId: string): Promise<readonly string[]> =>
      wallets.distinct('workspaceId', { materialId, displacedAt: { $exists: false } }),
    /** Proofs of control by subject, with ids from `addressSubject` and `keySubject`; unproved subjects are left out. */
    findProofs: (subjects: readonly string[]): Promise<ReadonlyMap<string, OwnershipProof>> => findProofs(db, subjects),

    /** Inserts derived addresses (existing ones are unchanged), then raises derivedCount to at least `derivedCount`. */
    addDerived: async (materialId: string, derived: readonly WatchedAddress[], derivedCount: number): Promise<void> => {
      // The count is raised only after the rows are durable, so that no index is offered without its watch.
      if (derived.length > 0) {
        await ignoringDuplicates(() => addresses.insertMany(derived.map(addressToDocument), { ordered: false }))
      }
      await materials.updateOne({ _id: materialId }, { $max: { derivedCount } })
    },
    /**
     * Inserts addresses that a person listed and adds `materialId` to their holders; repeating it changes nothing. Rows whose
     * address belongs to material of another kind are unchanged and their match keys returned. `offeredFrom` keeps those that
     * this material did not hold yet from being offered before.
     */
    addListed: async (
      materialId: string,
      rows: readonly ListedAddress[],
      offeredFrom: Ms | null = null,
    ): Promise<readonly string[]> => {
      try {
        await addListedWithin(addresses, materialId, rows, offeredFrom, null)
        return []
      } catch (error) {
        const refused = bulkDuplicates(error)
        if (refused === null) throw error
        return refused.flatMap((index) => rows[index]?.matchKey ?? [])
      }
    },
    addressesAt: async (materialId: string, indexes: readonly number[]): Promise<readonly WatchedAddress[]> => {
      const found = addresses.find({ materialId, index: { $in: [...indexes] } }, withoutId)
      return (await found.sort({ index: 1 }).toArray()).map(ADDRESSES.toRecord)
    },
    /** The addresses behind match keys, to find whose key material received unexpected money; unknown keys are left out. */
    findAddresses: async (
      mode: Mode,
      family: Family,
      matchKeys: readonly string[],
    ): Promise<readonly WatchedAddress[]> => {
      const found = addresses.find({ mode, family, matchKey: { $in: [...matchKeys] } }, withoutId)
      return (await found.toArray()).map(ADDRESSES.toRecord)
    },
    /** Addresses that a material holds in the order of their match keys, after the given one. */
    heldPage: async (
      materialId: string,
      afterMatchKey: string | null,
      limit: number,
    ): Promise<readonly WatchedAddress[]> => {
      const after = afterMatchKey === null ? {} : { matchKey: { $gt: afterMatchKey } }
      const found = addresses.find({ heldBy: materialId, ...after }, withoutId)
      return (await found.sort({ matchKey: 1 }).limit(limit).toArray()).map(ADDRESSES.toRecord)
    },
    countHeld: (materialId: string): Promise<number> => addresses.countDocuments({ heldBy: materialId }),

    /** Watches of a mode and family in the order of their match keys; with `packedAfter` without those that were packed before that time. */
    watchPage: (
      mode: Mode,
      family: Family,
      afterMatchKey: string | null,
      limit: number,
      packedAfter?: Ms,
    ): Promise<readonly { matchKey: string }[]> =>
      addresses
        .find(
          {
            mode,
            family,
            ...(afterMatchKey !== null && { matchKey: { $gt: afterMatchKey } }),
            ...(packedAfter !== undefined && {
              $or: [{ packed: null as never }, { packed: { $gt: new Date(packedAfter) } }],
            }),
          },
          keysOnly,
        )
        .sort({ matchKey: 1 })
        .limit(limit)
        .toArray(),
    /** Watches that are in no pack, in the order of their match keys; `isListed`: a person entered the address. */
    hotWatchPage: async (
      mode: Mode,
      family: Family,
      afterMatchKey: string | null,
      limit: number,
    ): Promise<readonly { matchKey: string; isListed: boolean }[]> => {
      const rows = await addresses
        .find(
          { mode, family, packed: null as never, ...(afterMatchKey !== null && { matchKey: { $gt: afterMatchKey } }) },
          { projection: { _id: 0, matchKey: 1, heldBy: 1 }, hint: 'address_hot' },
        )
        .sort({ matchKey: 1 })
        .limit(limit)
        .toArray()
      return rows.map(({ matchKey, heldBy }) => ({ matchKey, isListed: heldBy !== undefined }))
    },
    /** The match keys of `hotWatchPage` alone, which cost a scanner's start an eighth of their documents. */
    hotWatchKeys: async (
      mode: Mode,
      family: Family,
      afterMatchKey: string | null,
      limit: number,
    ): Promise<readonly string[]> => {
      const after = afterMatchKey === null ? {} : { matchKey: { $gt: afterMatchKey } }
      // One document with all keys: the driver spends six times as long on a document for each.
      const page = [
        { $match: { mode, family, packed: null, ...after } },
        { $sort: { matchKey: 1 } },
        { $limit: limit },
        { $group: { _id: null, keys: { $push: '$matchKey' } } },
      ]
      const [found] = await addresses.aggregate<{ keys: string[] }>(page, { hint: 'address_hot' }).toArray()
      return found?.keys ?? []
    },
    /** Marks addresses that are in a stored pack: `hotWatchPage` leaves them out from then on. */
    markPacked: async (mode: Mode, family: Family, matchKeys: readonly string[], at: Ms): Promise<void> => {
      if (matchKeys.length === 0) return
      const rows = { mode, family, matchKey: { $in: [...matchKeys] } }
      await addresses.updateMany(rows, { $set: { packed: new Date(at) } })
    },
    /** Rows that lack a network's mark. */
    unmarkedWatches: async (
      mode: Mode,
      family: Family,
      network: NetworkId,
      limit: number,
    ): Promise<readonly { matchKey: string }[]> => {
      // Skips through the index from one combination of marks to the next.
      const inUse = await addresses.distinct('watchedKey', { mode, family })
      const lacking = inUse.filter((key) => !key.split(',').includes(network))
      if (lacking.length === 0) return []
      return await addresses
        .find({ mode, family, watchedKey: { $in: lacking } }, keysOnly)
        .limit(limit)
        .toArray()
    },
    markWatched: async (
      mode: Mode,
      family: Family,
      network: NetworkId,
      matchKeys: readonly string[],
    ): Promise<void> => {
      if (matchKeys.length === 0) return
      await addresses.updateMany({ mode, family, matchKey: { $in: [...matchKeys] } }, [
        { $set: { watchedOn: { $sortArray: { input: { $setUnion: ['$watchedOn', [network]] }, sortBy: 1 } } } },
        { $set: { watchedKey: joined } },
      ])
    },
  }
}

/** The type of what {@link createWalletRepository} returns. */
export type WalletRepository = ReturnType<typeof createWalletRepository>

/** One atomic update of the counters; the reserved indexes follow from the document before it. */
async function reserveIndexes(
  materials: mongoose.mongo.Collection<KeyMaterialDocument>,
  {
    materialId,
    count,
    lowestNextIndex,
  }: { readonly materialId: string; readonly count: number; readonly lowestNextIndex: number },
): Promise<readonly number[]> {
  if (count <= 0) return []
  const returnedCount = { $size: '$returned' }
  const before = await materials.findOneAndUpdate(
    { _id: materialId, nextIndex: { $gte: lowestNextIndex }, 'history.state': { $ne: 'searching' } },
    [
      {
        $set: {
          returned: { $slice: ['$returned', count, { $max: [1, returnedCount] }] },
          nextIndex: {
            $max: [
              '$nextIndex',
              {
                $min: ['$derivedCount', { $add: ['$nextIndex', { $max: [0, { $subtract: [count, returnedCount] }] }] }],
              },
            ],
          },
        },
      },
    ],
    { returnDocument: 'before' },
  )
  if (before === null) return []
  const again = before.returned.slice(0, count)
  const fresh = Math.max(0, Math.min(count - again.length, before.derivedCount - before.nextIndex))
  return [...again, ...Array.from({ length: fresh }, (_, offset) => before.nextIndex + offset)]
}

/** `a,b,c` of the array after the previous stage. */
const joined = {
  $reduce: {
    input: '$watchedOn',
    initialValue: '',
    in: { $concat: ['$$value', { $cond: [{ $eq: ['$$value', ''] }, '', ','] }, '$$this'] },
  },
}
