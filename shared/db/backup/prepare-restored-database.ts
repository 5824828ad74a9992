import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { setLastIssuedNumber } from '#shared/db/invoices/last-issued-number.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { CHAIN_COMMANDS } from '#shared/db/scanning/chain-command-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { OWNERSHIP_CHALLENGES } from '#shared/db/wallets/ownership-models.ts'
import { ADDRESSES, KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { FAMILIES } from '#shared/domain/enumerations.ts'

/** Far above any epoch of a scanner that may still be suspended somewhere. */
const EPOCH_STEP = 1_000
const PAGE = 1_000

/** Values reserved after a restore. */
export interface Precautions {
  /** Keys whose next index was moved. */
  readonly keys: number
  /** Quarantined addresses of pools and single addresses. */
  readonly addresses: number
  readonly numberSeries: number
  readonly scanners: number
}

/**
 * Avoids everything that may have been given out after the archive was made and is unknown now: `skip` indexes of every
 * key, which are never offered, even if they stay without an invoice; every listed address until `quarantineUntil`; `skip` invoice
 * numbers of each workspace and mode. Former scanners lose their right to write. May be repeated only on a newly written database.
 */
export async function takePrecautions(
  db: Database,
  { skip, quarantineUntil, at }: { readonly skip: number; readonly quarantineUntil: number; readonly at: number },
): Promise<Precautions> {
  const materials = db.collection(KEY_MATERIAL)
  const moved = await materials.updateMany({ kind: 'xpub' }, [
    { $set: { nextIndex: { $add: ['$nextIndex', skip] }, returned: [] } },
    { $set: { reclaimFrom: '$nextIndex' } },
  ])
  let addresses = 0
  for await (const { _id } of materials.find({ kind: { $ne: 'xpub' } }, { projection: { _id: 1 } })) {
    const held = { heldBy: _id }
    const later = { $max: { [`offeredFrom.${_id}`]: quarantineUntil } }
    addresses += (await db.collection(ADDRESSES).updateMany(held, later, { hint: 'address_held' })).matchedCount
  }
  const cursors = await db
    .collection(CHAIN_CURSORS)
    .updateMany({}, [{ $set: { lease: null, leaseEpoch: { $add: ['$leaseEpoch', EPOCH_STEP] } } }])
  // A challenge that was used after the archive was made would be valid again.
  await db.collection(OWNERSHIP_CHALLENGES).deleteMany({})
  await db.collection(CHAIN_COMMANDS).updateMany(
    { status: 'open' },
    {
      $set: {
        status: 'cancelled',
        outcome: 'It was open when the installation was restored.',
        finishedAt: toDate(at),
      },
    },
  )
  return {
    keys: moved.matchedCount,
    addresses,
    numberSeries: await skipNumbers(db, skip),
    scanners: cursors.matchedCount,
  }
}

async function skipNumbers(db: Database, skip: number): Promise<number> {
  let series = 0
  for await (const { _id: workspaceId } of db.collection(WORKSPACES).find({}, { projection: { _id: 1 } })) {
    for (const mode of ['live', 'test'] as const) {
      const last = await db
        .collection(INVOICES)
        .findOne({ workspaceId, mode }, { sort: { number: -1 }, projection: { number: 1 } })
      await setLastIssuedNumber(db, workspaceId, mode, (last?.number ?? 0) + skip)
      series += 1
    }
  }
  return series
}

/** A key of which more addresses had been given out than were skipped. */
export interface OverrunKey {
  readonly materialId: string
  /** Highest index that received money without an invoice. */
  readonly seenIndex: number
}

/**
 * Checks payments since a restore: money without an invoice on an index that was not skipped shows that more than `skip`
 * addresses had been given out after the archive was made. Such keys continue `skip` indexes after it.
 */
export async function skipPastSeen(
  db: Database,
  { since, skip }: { readonly since: number; readonly skip: number },
): Promise<readonly OverrunKey[]> {
  const highest = new Map<string, number>()
  for (const family of FAMILIES) {
    let keys: string[] = []
    const look = async (): Promise<void> => {
      const rows = await db
        .collection(ADDRESSES)
        .find({ family, matchKey: { $in: keys } })
        .toArray()
      for (const { materialId, index } of rows) highest.set(materialId, Math.max(highest.get(materialId) ?? -1, index))
      keys = []
    }
    const unmatched = db
      .collection(PAYMENTS)
      .find({ _id: { $gte: uuidLowerBound(since) }, invoiceId: null, kind: 'onchain' }, { projection: { matchKey: 1 } })
    for await (const { matchKey } of unmatched) if (keys.push(matchKey) >= PAGE) await look()
    if (keys.length > 0) await look()
  }
  const overrun: OverrunKey[] = []
  for (const [materialId, seenIndex] of highest) {
    const past = seenIndex + 1 + skip
    const result = await db
      .collection(KEY_MATERIAL)
      .updateOne({ _id: materialId, kind: 'xpub', reclaimFrom: { $lte: seenIndex } }, [
        { $set: { nextIndex: { $max: ['$nextIndex', past] }, reclaimFrom: past, returned: [] } },
      ])
    if (result.matchedCount === 1) overrun.push({ materialId, seenIndex })
  }
  return overrun
}
