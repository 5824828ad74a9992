import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Payment, PaymentRepository, UnconfirmedOutcome } from '#shared/ports/payments.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { BY_KEY } from './payment-keys.ts'
import { paymentFromDocument, paymentToDocument } from './payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from './payment-model.ts'
import { idsUnderKeys, moveAll, ORPHANED, recordObservations } from './payment-scan-writes.ts'
import * as scopes from './payment-scopes.ts'

/** Dirty rows read per invoice, because one invoice may have several. */
const DIRTY_ROWS_PER_INVOICE = 4

/**
 * Payments on MongoDB, written by scanners and fenced by the epoch of their lease. `random` makes the public ids and
 * marks each scanner write.
 */
export function createPaymentRepository(db: Database, random: Random): PaymentRepository {
  const payments = db.collection(PAYMENTS)
  const all = async (filter: Parameters<typeof payments.find>[0]): Promise<readonly Payment[]> =>
    (await payments.find(filter).toArray()).map(paymentFromDocument)
  const listByKeyPrefix = async (prefix: string): Promise<readonly Payment[]> =>
    (await payments.find(BY_KEY.beginningWith(prefix), { hint: BY_KEY.hint }).sort({ key: 1 }).toArray()).map(
      paymentFromDocument,
    )

  return {
    recordObservations: (observations, epoch, at) => recordObservations({ payments, random }, observations, epoch, at),
    insertSimulated: async (payment, audit) => {
      const row = paymentToDocument(payment)
      try {
        await insertAudited(db, audit, async (session) => {
          await payments.insertOne({ ...row }, session === null ? {} : { session })
        })
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },

    dueForConfirmation: (scope) => all(scopes.dueForConfirmation(scope)),
    confirmThrough: async ({ mode, network, height, finalizedHeight, except = [], epoch, at }) => {
      const deep = scopes.dueForConfirmation({ mode, network, height, finalizedHeight })
      const due = except.length === 0 ? deep : { ...deep, key: { $nin: [...except] } }
      const found = await payments.find(due, { projection: { block: 1 } }).toArray()
      if (found.length === 0) return []
      const scanned = await scannedHashes(db, mode, network)
      const isNonCanonical = ({ block }: (typeof found)[number]) =>
        block !== null && (scanned.get(block.height) ?? block.hash) !== block.hash
      const only = (rows: typeof found) => ({ ...due, _id: { $in: rows.map((row) => row._id) } })
      const sound = only(found.filter((row) => !isNonCanonical(row)))
      const confirmed = { state: 'confirmed', confirmedAt: toDate(at) }
      return [
        ...(await moveAll(payments, random, sound, confirmed, epoch, at)),
        ...(await moveAll(payments, random, only(found.filter(isNonCanonical)), ORPHANED, epoch, at)),
      ]
    },
    unconfirmed: (mode, network) => all(scopes.unconfirmed(mode, network)),
    endUnconfirmed: async ({ mode, network, outcomes, epoch, at }) => {
      const ended: Payment[] = []
      for (const { keys, change } of sameOutcomes(outcomes)) {
        const filter = {
          ...scopes.unconfirmed(mode, network),
          _id: { $in: await idsUnderKeys(payments, keys) },
        }
        ended.push(...(await moveAll(payments, random, filter, change, epoch, at)))
      }
      return ended
    },
    orphanAbove: ({ epoch, at, ...scope }) => moveAll(payments, random, scopes.above(scope), ORPHANED, epoch, at),
    orphanMissing: async ({ epoch, at, ...scope }) =>
      scope.blocks.length === 0 ? [] : moveAll(payments, random, scopes.strangers(scope), ORPHANED, epoch, at),
    listNonCanonical: async (scope) => (scope.blocks.length === 0 ? [] : all(scopes.strangers(scope))),

    confirmSimulated: async (invoiceId, at) => {
      const now = toDate(at)
      const played = { invoiceId, kind: 'simulated', state: 'detected' } as const
      const change = { state: 'confirmed', confirmedAt: now, updatedAt: now, dirtyAt: now } as const
      await payments.updateMany(played, { $set: change, $inc: { version: 1 } })
    },
    findById: async (id) => {
      const stored = await payments.findOne({ _id: id })
      return stored === null ? null : paymentFromDocument(stored)
    },
    findByKeys: async (keys) =>
      keys.length === 0
        ? []
        : (await payments.find(BY_KEY.among(keys), { hint: BY_KEY.hint }).toArray()).map(paymentFromDocument),
    attributedAmong: async (keys) => {
      if (keys.length === 0) return new Set()
      const found = await payments
        .find(
          { ...BY_KEY.among(keys), invoiceId: { $ne: null } },
          { hint: BY_KEY.hint, projection: { _id: 0, key: 1 } },
        )
        .toArray()
      return new Set(found.map(({ key }) => key))
    },
    // Transfer keys begin with their transaction.
    listByTransaction: (mode, network, txHash) => listByKeyPrefix(`${mode}:${network}:${txHash}`),
    listByKeyPrefix,
    listByInvoice: async (invoiceId) =>
      (await payments.find({ invoiceId }).sort({ _id: 1 }).toArray()).map(paymentFromDocument),
    list: async (query) =>
      (await payments.find(scopes.listed(query)).sort({ _id: -1 }).limit(query.limit).toArray()).map(
        paymentFromDocument,
      ),
    listInBlocks: ({ asset, matchKeys, ...scope }) =>
      all({ ...scopes.liveInBlocks(scope), matchKey: { $in: [...matchKeys] }, asset, kind: 'onchain' }),
    countInBlocks: async (scope) => {
      const found = await payments
        .aggregate<{ _id: PaymentDocument['state']; count: number }>([
          { $match: scopes.liveInBlocks(scope) },
          { $group: { _id: '$state', count: { $sum: 1 } } },
        ])
        .toArray()
      const confirmed = found.find((row) => row._id === 'confirmed')?.count ?? 0
      return { live: found.reduce((sum, row) => sum + row.count, 0), confirmed }
    },
    listUnheld: async (mode, matchKeys, limit) =>
      (
        await payments
          .find({ matchKey: { $in: [...matchKeys] }, invoiceId: null, mode }, { hint: 'payment_address' })
          .sort({ _id: -1 })
          .limit(limit)
          .toArray()
      ).map(paymentFromDocument),
    attribute: async ({ id, version }, owner, at) => {
      const given = await payments.updateOne(
        { _id: id, version, invoiceId: null, state: 'confirmed' },
        { $set: { ...owner, version: version + 1, dirtyAt: toDate(at), updatedAt: toDate(at) } },
      )
      return given.matchedCount === 1
    },

    markApplied: async (rows) => {
      if (rows.length === 0) return
      const operations = rows.map(({ key, version, counted, uncountedReason, late }) => ({
        updateOne: {
          filter: { ...BY_KEY.one(key), version },
          update: { $set: { counted, uncountedReason, late }, $unset: { dirtyAt: '' as const } },
          hint: BY_KEY.hint,
        },
      }))
      await payments.bulkWrite(operations, { ordered: false })
    },
    takeDirtyInvoices: async ({ before, at, limit }) => {
      const overdue = scopes.unapplied(before)
      if (!(await isAny(db, { of: PAYMENTS, filter: overdue, hint: 'payment_dirty' }))) return []
      const rows = await payments
        .find(overdue, { projection: { invoiceId: 1 } })
        .sort({ dirtyAt: 1 })
        .limit(limit * DIRTY_ROWS_PER_INVOICE)
        .toArray()
      const ids = [...new Set(rows.flatMap((row) => row.invoiceId ?? []))].slice(0, limit)
      if (ids.length === 0) return ids
      await payments.updateMany({ invoiceId: { $in: ids }, ...overdue }, { $set: { dirtyAt: toDate(at) } })
      return ids
    },
  }
}

/** One change for all payments with the same outcome. */
function sameOutcomes(outcomes: readonly UnconfirmedOutcome[]) {
  const groups = new Map<string, { keys: string[]; change: Readonly<Record<string, unknown>> }>()
  for (const outcome of outcomes) {
    const replacedBy = outcome.state === 'replaced' ? outcome.replacedBy : null
    const group = groups.get(replacedBy ?? '') ?? { keys: [], change: { state: outcome.state, replacedBy } }
    group.keys.push(outcome.key)
    groups.set(replacedBy ?? '', group)
  }
  return groups.values()
}

/** Hashes by height of the blocks in the network's cursor: the newest ones without gaps. */
async function scannedHashes(db: Database, mode: Mode, network: NetworkId): Promise<ReadonlyMap<number, string>> {
  const cursor = await db
    .collection(CHAIN_CURSORS)
    .findOne({ _id: `${mode}:${network}` }, { projection: { window: 1 } })
  return new Map(cursor?.window ?? [])
}
