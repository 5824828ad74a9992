import type mongoose from 'mongoose'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { PaymentListQuery, PaymentRepository, UncountedReason } from '#shared/usecases/ports/payments.ts'
import type { Random } from '#shared/usecases/ports/runtime.ts'
import type { Database } from './connect.ts'
import { CHAIN_CURSORS } from './cursor-model.ts'
import { toDate } from './dates.ts'
import { duplicateKeyFields } from './duplicate-key.ts'
import { paymentFromDocument, paymentToDocument } from './payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from './payment-model.ts'
import { moveAll, recordSightings } from './payment-scan-writes.ts'

/** Money that never counts for an invoice waits in the operators' inbox; merchants list only what their invoice asked for. */
const INBOX_ONLY: readonly UncountedReason[] = ['wrong_asset', 'wrong_network', 'unmatched', 'inactive_lock']

/** In no block any more; a block that holds it brings it back. */
const ORPHANED = { state: 'orphaned', block: null, confirmAt: null, confirmedAt: null }

/** Dirty rows read per invoice asked for, because one invoice may have several. */
const DIRTY_ROWS_PER_INVOICE = 4

/**
 * Payments on MongoDB: the scanner's truth. `random` makes the public ids and marks each scanner write.
 */
export function createPaymentRepository(db: Database, random: Random): PaymentRepository {
  const payments = db.collection(PAYMENTS)
  return {
    recordSightings: (sightings, epoch, at) => recordSightings(payments, random, sightings, epoch, at),
    confirmThrough: async ({ mode, network, height, epoch, at }) => {
      const due = { network, mode, state: 'detected' as const, confirmAt: { $lte: height } }
      const found = await payments.find(due, { projection: { block: 1 } }).toArray()
      if (found.length === 0) return []
      const scanned = await scannedHashes(db, mode, network)
      const isStranger = ({ block }: (typeof found)[number]) =>
        block !== null && (scanned.get(block.height) ?? block.hash) !== block.hash
      const only = (rows: typeof found) => ({ ...due, _id: { $in: rows.map((row) => row._id) } })
      const sound = only(found.filter((row) => !isStranger(row)))
      const confirmed = { state: 'confirmed', confirmedAt: toDate(at) }
      return [
        ...(await moveAll(payments, random, sound, confirmed, epoch, at)),
        ...(await moveAll(payments, random, only(found.filter(isStranger)), ORPHANED, epoch, at)),
      ]
    },
    orphanAbove: ({ mode, network, forkHeight, unconfirmedOnly = false, epoch, at }) => {
      const above: mongoose.mongo.Filter<PaymentDocument> = {
        kind: 'onchain',
        state: { $in: unconfirmedOnly ? ['detected'] : ['detected', 'confirmed'] },
        'block.height': { $gt: forkHeight },
      }
      return moveAll(payments, random, { ...above, network, mode }, ORPHANED, epoch, at)
    },
    orphanStrangers: async ({ mode, network, blocks, epoch, at }) => {
      if (blocks.length === 0) return []
      const heights = blocks.map((block) => block.height)
      const strangers: mongoose.mongo.Filter<PaymentDocument> = {
        kind: 'onchain',
        state: 'detected',
        'block.height': { $gte: Math.min(...heights), $lte: Math.max(...heights) },
        'block.hash': { $nin: blocks.map((block) => block.hash) },
      }
      return moveAll(payments, random, { ...strangers, network, mode }, ORPHANED, epoch, at)
    },
    insertSimulated: async (payment) => {
      try {
        await payments.insertOne(paymentToDocument(payment))
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },
    listByInvoice: async (invoiceId) =>
      (await payments.find({ invoiceId }).sort({ _id: 1 }).toArray()).map(paymentFromDocument),
    list: async (query) =>
      (await payments.find(paymentListFilter(query)).sort({ _id: -1 }).limit(query.limit).toArray()).map(
        paymentFromDocument,
      ),
    markApplied: async (rows) => {
      if (rows.length === 0) return
      const operations = rows.map(({ key, version, counted, uncountedReason, late }) => ({
        updateOne: {
          filter: { key, version },
          update: { $set: { counted, uncountedReason, late }, $unset: { dirtyAt: '' as const } },
        },
      }))
      await payments.bulkWrite(operations, { ordered: false })
    },
    dirtyInvoices: async (before, limit) => {
      const rows = await payments
        .find({ dirtyAt: { $lte: toDate(before) } }, { projection: { invoiceId: 1 } })
        .sort({ dirtyAt: 1 })
        .limit(limit * DIRTY_ROWS_PER_INVOICE)
        .toArray()
      return [...new Set(rows.flatMap((row) => row.invoiceId ?? []))].slice(0, limit)
    },
  }
}

/** Hashes by height of the blocks that the network's cursor remembers: the newest ones without gaps. */
async function scannedHashes(db: Database, mode: Mode, network: NetworkId): Promise<ReadonlyMap<number, string>> {
  const cursor = await db
    .collection(CHAIN_CURSORS)
    .findOne({ _id: `${mode}:${network}` }, { projection: { window: 1 } })
  return new Map(cursor?.window ?? [])
}

/** The filter of `GET /payments`; exported for the test that explains it. */
export function paymentListFilter(query: PaymentListQuery): mongoose.mongo.Filter<PaymentDocument> {
  return {
    workspaceId: query.workspaceId,
    mode: query.mode,
    ...(query.invoiceId !== null && { invoiceId: query.invoiceId }),
    ...(query.beforeId !== null && { _id: { $lt: query.beforeId } }),
    uncountedReason: { $nin: [...INBOX_ONLY] },
  }
}
