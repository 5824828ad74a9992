import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { raiseLastIssuedNumber } from '#shared/db/invoices/last-issued-number.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { CHAIN_COMMANDS } from '#shared/db/scanning/chain-command-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { OWNERSHIP_CHALLENGES } from '#shared/db/wallets/ownership-models.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { FAMILIES, type Mode } from '#shared/domain/enumerations.ts'
import { restAfterLoss } from '#shared/domain/invoice/quote-window.ts'
import type { IssuedNumbers, Precautions } from '#shared/ports/marks.ts'
import { LOST_WALLETS } from './installation-life-repository.ts'

/** Far above any epoch of a scanner that may still be suspended somewhere. */
const EPOCH_STEP = 1_000
const PAGE = 1_000

/**
 * Keeps a store that went back in time away from everything that may have been issued since. No key offers an index below `issued.firstFree`, not
 * even one that stays without an invoice, and every address below it is derived and watched later; every listed address waits as `quarantineMs`
 * says; every invoice series continues above `issued.lastNumber`. Former scanners lose their right to write. Repeating it is harmless.
 */
export async function takePrecautions(
  db: Database,
  issued: IssuedNumbers,
  { quarantineMs, at }: { readonly quarantineMs: number | null; readonly at: number },
): Promise<Precautions> {
  const keys = await continueKeys(db, issued)
  const addresses = await quarantineListed(db, at, quarantineMs)
  await noteLostWallets(db, issued, at + (quarantineMs ?? (await restOf(db, null))))
  const cursors = await db
    .collection(CHAIN_CURSORS)
    .updateMany({}, [{ $set: { lease: null, leaseEpoch: { $add: ['$leaseEpoch', EPOCH_STEP] } } }])
  // A challenge that was used since would be valid again.
  await db.collection(OWNERSHIP_CHALLENGES).deleteMany({})
  const outcome = 'It was open when the database came back from an earlier time.'
  await db
    .collection(CHAIN_COMMANDS)
    .updateMany({ status: 'open' }, { $set: { status: 'cancelled', outcome, finishedAt: toDate(at) } })
  return { keys, addresses, numberSeries: await continueNumbers(db, issued), scanners: cursors.matchedCount }
}

/** Moves one key behind everything that may have been issued of it. */
export async function continueKey(db: Database, materialId: string, firstFree: number): Promise<void> {
  const start = { $max: ['$nextIndex', firstFree] }
  await db
    .collection(KEY_MATERIAL)
    .updateOne({ _id: materialId, kind: 'xpub' }, [{ $set: { nextIndex: start, reclaimFrom: start, returned: [] } }])
}

async function continueKeys(db: Database, { firstFree }: IssuedNumbers): Promise<number> {
  let keys = 0
  const materials = db
    .collection(KEY_MATERIAL)
    .find({ kind: 'xpub' }, { projection: { derivedCount: 1, nextIndex: 1 } })
  for await (const { _id, derivedCount, nextIndex } of materials) {
    await continueKey(db, _id, firstFree({ materialId: _id, derivedCount, nextIndex }))
    keys += 1
  }
  return keys
}

async function quarantineListed(db: Database, at: number, quarantineMs: number | null): Promise<number> {
  let addresses = 0
  for await (const { _id } of db.collection(KEY_MATERIAL).find({ kind: { $ne: 'xpub' } }, { projection: { _id: 1 } })) {
    const later = { $max: { [`offeredFrom.${_id}`]: at + (quarantineMs ?? (await restOf(db, _id))) } }
    const { matchedCount } = await db.collection(ADDRESSES).updateMany({ heldBy: _id }, later, { hint: 'address_held' })
    addresses += matchedCount
  }
  return addresses
}

/** Acts that the audit log lacks may have added a wallet: what is entered again is treated as if it had been in use. */
async function noteLostWallets(db: Database, issued: IssuedNumbers, until: number): Promise<void> {
  const newest = await db.collection(AUDIT_LOG).findOne({ seq: { $exists: true } }, { sort: { seq: -1 } })
  if (issued.auditNumber <= (newest?.seq ?? 0)) return
  const unknown = { materialId: '', derivedCount: 0, nextIndex: 0 }
  const former = await LOST_WALLETS.read(db)
  await LOST_WALLETS.write(db, {
    firstFree: Math.max(issued.firstFree(unknown), former?.firstFree ?? 0),
    until: Math.max(until, former?.until ?? 0),
  })
}

/** The longest rest, milliseconds, among the workspaces that list an address, or among all for null: a long quarantine of one workspace delays no other address. */
async function restOf(db: Database, materialId: string | null): Promise<number> {
  const ids = materialId === null ? null : await db.collection(WALLETS).distinct('workspaceId', { materialId })
  const owners = await db
    .collection(WORKSPACES)
    .find(ids === null ? {} : { _id: { $in: ids } }, { projection: { policy: 1 } })
    .toArray()
  return Math.max(0, ...owners.map(({ policy }) => restAfterLoss(policy)))
}

async function continueNumbers(db: Database, { lastNumber }: IssuedNumbers): Promise<number> {
  let series = 0
  for await (const { workspaceId, mode, number } of numberSeries(db)) {
    await raiseLastIssuedNumber(db, workspaceId, mode, lastNumber({ workspaceId, mode, number }))
    series += 1
  }
  return series
}

/** The highest stored number of every invoice series, 0 where it has none. */
export async function* numberSeries(
  db: Database,
): AsyncGenerator<{ readonly workspaceId: string; readonly mode: Mode; readonly number: number }> {
  for await (const { _id: workspaceId } of db.collection(WORKSPACES).find({}, { projection: { _id: 1 } })) {
    for (const mode of ['live', 'test'] as const) {
      const last = await db
        .collection(INVOICES)
        .findOne({ workspaceId, mode }, { sort: { number: -1 }, projection: { number: 1 } })
      yield { workspaceId, mode, number: last?.number ?? 0 }
    }
  }
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
