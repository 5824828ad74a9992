import type mongoose from 'mongoose'
import type { ListedAddress } from '#shared/ports/addresses.ts'
import type { AddressDocument } from './wallet-models.ts'

/**
 * Adds a material to the holders of the rows, in a transaction if one is given. Throws the store's own error with the positions of rows
 * whose address has another kind of use; outside a transaction the others are stored then.
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
  // The filter includes the kind of use: a row of another kind does not match, and its id refuses the insert.
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

/** Before the material holds it, so that a known address can never be offered too early. */
async function keepBack(
  addresses: mongoose.mongo.Collection<AddressDocument>,
  { materialId, rows, later }: { materialId: string; rows: readonly ListedAddress[]; later: Record<string, number> },
  within: { readonly session?: mongoose.mongo.ClientSession },
): Promise<void> {
  const ids = rows.map(({ mode, family, matchKey }) => `${mode}:${family}:${matchKey}`)
  await addresses.updateMany({ _id: { $in: ids }, heldBy: { $ne: materialId } }, { $set: later }, within)
}
