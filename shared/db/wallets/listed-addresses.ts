import type mongoose from 'mongoose'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { ListedAddress, WalletRepository, WatchedAddress } from '#shared/ports/wallets.ts'
import type { AddressDocument } from './wallet-models.ts'

/** The part of the wallet repository for addresses that people list: those of pools, and single ones. */
export function listedAddresses(addresses: mongoose.mongo.Collection<AddressDocument>) {
  return {
    addListed: (async (materialId, rows, offeredFrom = null) => {
      try {
        await addListedWithin(addresses, materialId, rows, offeredFrom, null)
        return []
      } catch (error) {
        const refused = bulkDuplicates(error)
        if (refused === null) throw error
        return refused.flatMap((index) => rows[index]?.matchKey ?? [])
      }
    }) satisfies WalletRepository['addListed'],
    heldPage: (async (materialId, afterMatchKey, limit) => {
      const after = afterMatchKey === null ? {} : { matchKey: { $gt: afterMatchKey } }
      const found = await addresses
        .find({ heldBy: materialId, ...after }, { projection: { _id: 0 } })
        .sort({ matchKey: 1 })
        .limit(limit)
        .toArray()
      return found.map(addressFromDocument)
    }) satisfies WalletRepository['heldPage'],
    countHeld: ((materialId) =>
      addresses.countDocuments({ heldBy: materialId })) satisfies WalletRepository['countHeld'],
  }
}

/**
 * Adds a material to who holds the rows, in a transaction where one is given. Throws the store's own error with the positions of rows
 * whose address is used in another way; outside of a transaction the others are stored then.
 */
export async function addListedWithin(
  addresses: mongoose.mongo.Collection<AddressDocument>,
  materialId: string,
  rows: readonly ListedAddress[],
  offeredFrom: number | null,
  session: mongoose.mongo.ClientSession | null,
): Promise<void> {
  if (rows.length === 0) return
  const within = session === null ? {} : { session }
  const later = offeredFrom === null ? {} : { [`offeredFrom.${materialId}`]: offeredFrom }
  if (offeredFrom !== null) await keepBack(addresses, { materialId, rows, later }, within)
  // The filter names the manner of use: a row of another manner does not match, and its id refuses the insert.
  const operations = rows.map((row) => ({
    updateOne: {
      filter: { _id: `${row.mode}:${row.family}:${row.matchKey}`, materialId: row.materialId },
      update: {
        $setOnInsert: {
          mode: row.mode,
          family: row.family,
          matchKey: row.matchKey,
          address: row.address,
          index: 0,
          watchedOn: [],
          watchedKey: '',
          ...later,
        },
        $addToSet: { heldBy: materialId },
      },
      upsert: true,
    },
  }))
  await addresses.bulkWrite(operations, { ordered: false, ...within })
}

/** Before the material holds it, so that there is no moment in which an address known already could be offered too early. */
async function keepBack(
  addresses: mongoose.mongo.Collection<AddressDocument>,
  { materialId, rows, later }: { materialId: string; rows: readonly ListedAddress[]; later: Record<string, number> },
  within: { readonly session?: mongoose.mongo.ClientSession },
): Promise<void> {
  const ids = rows.map(({ mode, family, matchKey }) => `${mode}:${family}:${matchKey}`)
  await addresses.updateMany({ _id: { $in: ids }, heldBy: { $ne: materialId } }, { $set: later }, within)
}

/** A stored address without what only its indexes need. */
export function addressFromDocument(stored: Omit<AddressDocument, '_id'>): WatchedAddress {
  const { watchedKey: _watchedKey, ...address } = stored
  return address
}
