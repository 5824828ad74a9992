import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields, ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { KeyMaterial, Wallet, WalletRepository, WatchedAddress } from '#shared/ports/wallets.ts'
import { keyHistories } from './key-histories.ts'
import { addressFromDocument, listedAddresses } from './listed-addresses.ts'
import { findProofs } from './ownership-repository.ts'
import {
  ADDRESSES,
  type AddressDocument,
  KEY_MATERIAL,
  type KeyMaterialDocument,
  WALLETS,
  type WalletDocument,
} from './wallet-models.ts'

/** Key material, wallets and watched addresses on MongoDB. */
export function createWalletRepository(db: Database): WalletRepository {
  const materials = db.collection(KEY_MATERIAL)
  const addresses = db.collection(ADDRESSES)
  return {
    ...materialRecords(materials),
    ...keyHistories(materials),
    ...walletRecords(db),
    ...watches(addresses),
    ...listedAddresses(addresses),
    findProofs: (subjects) => findProofs(db, subjects),
    reserveIndexes: (materialId, count) => reserveIndexes(materials, materialId, count),
    addDerived: async (materialId, derived, derivedCount) => {
      // The count is raised only after the rows are durable, so that no index is offered without its watch.
      if (derived.length > 0) {
        await ignoringDuplicates(() => addresses.insertMany(derived.map(addressToDocument), { ordered: false }))
      }
      await materials.updateOne({ _id: materialId }, { $max: { derivedCount } })
    },
    returnIndexes: async (materialId, indexes) => {
      await materials.updateOne({ _id: materialId }, { $addToSet: { returned: { $each: [...indexes] } } })
    },
  }
}

/** One atomic update on the counters; what was taken follows from the document as it was before. */
async function reserveIndexes(
  materials: mongoose.mongo.Collection<KeyMaterialDocument>,
  materialId: string,
  count: number,
): Promise<readonly number[]> {
  if (count <= 0) return []
  const returnedCount = { $size: '$returned' }
  const before = await materials.findOneAndUpdate(
    { _id: materialId, 'history.state': { $ne: 'searching' } },
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

function materialRecords(materials: mongoose.mongo.Collection<KeyMaterialDocument>) {
  const find = async (id: string): Promise<KeyMaterial | null> => {
    const stored = await materials.findOne({ _id: id })
    return stored === null ? null : materialFromDocument(stored)
  }
  return {
    upsertMaterial: async (material: KeyMaterial): Promise<KeyMaterial> => {
      const { id, createdAt, returned, ...same } = material
      try {
        await materials.insertOne({ _id: id, ...same, returned: [...returned], createdAt: toDate(createdAt) })
        return material
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const stored = await readBack(() => find(id))
        if (stored === null) throw new Error(`key material ${id} exists but cannot be read`, { cause: error })
        return stored
      }
    },
    findMaterial: find,
    listMaterials: async () => (await materials.find().sort({ _id: 1 }).toArray()).map(materialFromDocument),
  }
}

function walletRecords(db: Database) {
  const wallets = db.collection(WALLETS)
  return {
    insertWallet: async (wallet: Wallet): Promise<'inserted' | 'exists'> => {
      try {
        await wallets.insertOne(walletToDocument(wallet))
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },
    listWallets: async (workspaceId: string | null) =>
      (
        await wallets
          .find(workspaceId === null ? {} : { workspaceId })
          .sort({ _id: 1 })
          .toArray()
      ).map(walletFromDocument),
    findWallet: async (id: string): Promise<Wallet | null> => {
      const stored = await wallets.findOne({ _id: id })
      return stored === null ? null : walletFromDocument(stored)
    },
    setDisabled: async (id: string, disabledAt: number | null, audit?: AuditRecord): Promise<Wallet | null> => {
      const date = toDateOrNull(disabledAt)
      const filter = { _id: id, disabledAt: date === null ? { $ne: null } : null }
      const change = { $set: { disabledAt: date } }
      if (audit === undefined) await wallets.updateOne(filter, change)
      else {
        await audited(db, audit, async (session) => {
          return (await wallets.updateOne(filter, change, { session })).matchedCount === 1
        })
      }
      const stored = await wallets.findOne({ _id: id })
      return stored === null ? null : walletFromDocument(stored)
    },
    workspacesUsing: (materialId: string) =>
      wallets.distinct('workspaceId', { materialId, displacedAt: { $exists: false } }),
  }
}

function watches(addresses: mongoose.mongo.Collection<AddressDocument>) {
  const withoutId = { projection: { _id: 0 } }
  const keysOnly = { projection: { _id: 0, matchKey: 1 } }
  return {
    addressesAt: (async (materialId, indexes) =>
      (
        await addresses
          .find({ materialId, index: { $in: [...indexes] } }, withoutId)
          .sort({ index: 1 })
          .toArray()
      ).map(addressFromDocument)) satisfies WalletRepository['addressesAt'],
    findAddresses: (async (mode, family, matchKeys) =>
      (await addresses.find({ mode, family, matchKey: { $in: [...matchKeys] } }, withoutId).toArray()).map(
        addressFromDocument,
      )) satisfies WalletRepository['findAddresses'],
    watchPage: ((mode, family, afterMatchKey, limit) =>
      addresses
        .find({ mode, family, ...(afterMatchKey !== null && { matchKey: { $gt: afterMatchKey } }) }, keysOnly)
        .sort({ matchKey: 1 })
        .limit(limit)
        .toArray()) satisfies WalletRepository['watchPage'],
    unmarkedWatches: (async (mode, family, network, limit) => {
      const lacking = (await watchedKeys(addresses, mode, family)).filter((key) => !key.split(',').includes(network))
      if (lacking.length === 0) return []
      return addresses
        .find({ mode, family, watchedKey: { $in: lacking } }, keysOnly)
        .limit(limit)
        .toArray()
    }) satisfies WalletRepository['unmarkedWatches'],
    markWatched: (async (mode, family, network, matchKeys) => {
      if (matchKeys.length === 0) return
      await addresses.updateMany({ mode, family, matchKey: { $in: [...matchKeys] } }, [
        { $set: { watchedOn: { $sortArray: { input: { $setUnion: ['$watchedOn', [network]] }, sortBy: 1 } } } },
        { $set: { watchedKey: joined } },
      ])
    }) satisfies WalletRepository['markWatched'],
  }
}

/** `a,b,c` of the array as it is after the stage before. */
const joined = {
  $reduce: {
    input: '$watchedOn',
    initialValue: '',
    in: { $concat: ['$$value', { $cond: [{ $eq: ['$$value', ''] }, '', ','] }, '$$this'] },
  },
}

/** Every combination of marks in use; skips through the index from one to the next. */
async function watchedKeys(
  addresses: mongoose.mongo.Collection<AddressDocument>,
  mode: Mode,
  family: Family,
): Promise<readonly string[]> {
  return await addresses.distinct('watchedKey', { mode, family })
}

function addressToDocument({ heldBy: _heldBy, ...address }: WatchedAddress): AddressDocument {
  const watchedOn = [...address.watchedOn].sort()
  return {
    ...address,
    _id: `${address.mode}:${address.family}:${address.matchKey}`,
    watchedOn,
    watchedKey: watchedOn.join(','),
  }
}

function materialFromDocument(stored: KeyMaterialDocument): KeyMaterial {
  const { _id, createdAt, ...same } = stored
  return { id: _id, ...same, createdAt: toMs(createdAt) }
}

/** The stored form of a wallet. */
export function walletToDocument({
  id,
  createdAt,
  disabledAt,
  effectiveAt,
  displacedAt,
  ...same
}: Wallet): WalletDocument {
  return {
    _id: id,
    ...same,
    createdAt: toDate(createdAt),
    disabledAt: toDateOrNull(disabledAt),
    ...(effectiveAt !== undefined && { effectiveAt: toDate(effectiveAt) }),
    ...(displacedAt !== undefined && { displacedAt: toDate(displacedAt) }),
  }
}

function walletFromDocument(stored: WalletDocument): Wallet {
  const { _id, createdAt, disabledAt, effectiveAt, displacedAt, ...same } = stored
  return {
    id: _id,
    ...same,
    createdAt: toMs(createdAt),
    disabledAt: toMsOrNull(disabledAt),
    ...(effectiveAt !== undefined && { effectiveAt: toMs(effectiveAt) }),
    ...(displacedAt !== undefined && { displacedAt: toMs(displacedAt) }),
  }
}
