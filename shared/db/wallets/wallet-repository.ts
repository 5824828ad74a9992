import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDateOrNull } from '#shared/db/connection/dates.ts'
import { bulkDuplicates, duplicateKeyFields, ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Wallet, WalletRepository } from '#shared/ports/wallets.ts'
import { endedSearch, foundUse, givenStart } from './key-histories.ts'
import { addListedWithin } from './listed-addresses.ts'
import { findProofs } from './ownership-repository.ts'
import { addressToDocument } from './wallet-mapping.ts'
import { ADDRESSES, KEY_MATERIAL, type KeyMaterialDocument, WALLETS } from './wallet-models.ts'

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
export function createWalletRepository(db: Database): WalletRepository {
  const materials = db.collection(KEY_MATERIAL)
  const wallets = db.collection(WALLETS)
  const addresses = db.collection(ADDRESSES)
  const findMaterial = async (id: string): Promise<KeyMaterial | null> => {
    const stored = await materials.findOne({ _id: id })
    return KEY_MATERIAL.toRecord(stored)
  }
  const findWallet = async (id: string): Promise<Wallet | null> => {
    const stored = await wallets.findOne({ _id: id })
    return WALLETS.toRecord(stored)
  }
  const withoutId = { projection: { _id: 0 } }
  const keysOnly = { projection: { _id: 0, matchKey: 1 } }

  return {
    upsertMaterial: async (material) => {
      const { id } = material
      try {
        await materials.insertOne(KEY_MATERIAL.toDocument(material))
        return material
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const stored = await readBack(() => findMaterial(id))
        if (stored === null) throw new Error(`key material ${id} exists but cannot be read`, { cause: error })
        return stored
      }
    },
    findMaterial,
    listMaterials: async () => (await materials.find().sort({ _id: 1 }).toArray()).map(KEY_MATERIAL.toRecord),
    isAnyBehind: (headroom) => isAny(db, { of: KEY_MATERIAL, filter: behind(headroom) }),
    isAnyUnderived: () => isAny(db, { of: KEY_MATERIAL, filter: UNDERIVED }),
    isAnyAwaited: () => isAny(db, { of: KEY_MATERIAL, filter: AWAITED }),
    reserveIndexes: (materialId, count, lowestNextIndex = 0) =>
      reserveIndexes(materials, { materialId, count, lowestNextIndex }),
    returnIndexes: async (materialId, indexes) => {
      await materials.updateOne({ _id: materialId }, { $addToSet: { returned: { $each: [...indexes] } } })
    },
    recordUsedIndex: async (materialId, index) => {
      const { filter, update } = foundUse(materialId, index)
      return (await materials.updateOne(filter, update)).modifiedCount === 1
    },
    endHistorySearch: async (materialId, network, startIndex) => {
      const { filter, update } = endedSearch(materialId, network, startIndex)
      return (await materials.updateOne(filter, update)).modifiedCount === 1
    },
    setStartIndex: async (materialId, startIndex) => {
      const { filter, update } = givenStart(materialId, startIndex)
      return (await materials.updateOne(filter, update)).matchedCount === 1
    },

    insertWallet: async (wallet) => {
      try {
        await wallets.insertOne(WALLETS.toDocument(wallet))
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },
    listWallets: async (workspaceId) => {
      const owned = workspaceId === null ? {} : { workspaceId }
      return (await wallets.find(owned).sort({ _id: 1 }).toArray()).map(WALLETS.toRecord)
    },
    findWallet,
    setDisabled: async (id, disabledAt, audit) => {
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
    workspacesUsing: (materialId) => wallets.distinct('workspaceId', { materialId, displacedAt: { $exists: false } }),
    findProofs: (subjects) => findProofs(db, subjects),

    addDerived: async (materialId, derived, derivedCount) => {
      // The count is raised only after the rows are durable, so that no index is offered without its watch.
      if (derived.length > 0) {
        await ignoringDuplicates(() => addresses.insertMany(derived.map(addressToDocument), { ordered: false }))
      }
      await materials.updateOne({ _id: materialId }, { $max: { derivedCount } })
    },
    addListed: async (materialId, rows, offeredFrom = null) => {
      try {
        await addListedWithin(addresses, materialId, rows, offeredFrom, null)
        return []
      } catch (error) {
        const refused = bulkDuplicates(error)
        if (refused === null) throw error
        return refused.flatMap((index) => rows[index]?.matchKey ?? [])
      }
    },
    addressesAt: async (materialId, indexes) => {
      const found = addresses.find({ materialId, index: { $in: [...indexes] } }, withoutId)
      return (await found.sort({ index: 1 }).toArray()).map(ADDRESSES.toRecord)
    },
    findAddresses: async (mode, family, matchKeys) => {
      const found = addresses.find({ mode, family, matchKey: { $in: [...matchKeys] } }, withoutId)
      return (await found.toArray()).map(ADDRESSES.toRecord)
    },
    heldPage: async (materialId, afterMatchKey, limit) => {
      const after = afterMatchKey === null ? {} : { matchKey: { $gt: afterMatchKey } }
      const found = addresses.find({ heldBy: materialId, ...after }, withoutId)
      return (await found.sort({ matchKey: 1 }).limit(limit).toArray()).map(ADDRESSES.toRecord)
    },
    countHeld: (materialId) => addresses.countDocuments({ heldBy: materialId }),

    watchPage: (mode, family, afterMatchKey, limit) =>
      addresses
        .find({ mode, family, ...(afterMatchKey !== null && { matchKey: { $gt: afterMatchKey } }) }, keysOnly)
        .sort({ matchKey: 1 })
        .limit(limit)
        .toArray(),
    hotWatchPage: async (mode, family, afterMatchKey, limit) => {
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
    hotWatchKeys: async (mode, family, afterMatchKey, limit) => {
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
    markPacked: async (mode, family, matchKeys) => {
      if (matchKeys.length === 0) return
      await addresses.updateMany({ mode, family, matchKey: { $in: [...matchKeys] } }, { $set: { packed: true } })
    },
    unmarkedWatches: async (mode, family, network, limit) => {
      // Skips through the index from one combination of marks to the next.
      const inUse = await addresses.distinct('watchedKey', { mode, family })
      const lacking = inUse.filter((key) => !key.split(',').includes(network))
      if (lacking.length === 0) return []
      return await addresses
        .find({ mode, family, watchedKey: { $in: lacking } }, keysOnly)
        .limit(limit)
        .toArray()
    },
    markWatched: async (mode, family, network, matchKeys) => {
      if (matchKeys.length === 0) return
      await addresses.updateMany({ mode, family, matchKey: { $in: [...matchKeys] } }, [
        { $set: { watchedOn: { $sortArray: { input: { $setUnion: ['$watchedOn', [network]] }, sortBy: 1 } } } },
        { $set: { watchedKey: joined } },
      ])
    },
  }
}

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
