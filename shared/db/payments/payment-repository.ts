import type mongoose from 'mongoose'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { PaymentListQuery, PaymentRepository, UncountedReason } from '#shared/ports/payments.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { createChainMoves } from './payment-chain-updates.ts'
import { createPaymentLookups } from './payment-lookups.ts'
import { paymentFromDocument, paymentToDocument } from './payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from './payment-model.ts'
import { recordSightings } from './payment-scan-writes.ts'

/** Money that never counts for an invoice waits in the operators' inbox; merchants list only what their invoice asked for. */
const INBOX_ONLY: readonly UncountedReason[] = ['wrong_asset', 'wrong_network', 'unmatched', 'inactive_lock']

/** Dirty rows read per invoice asked for, because one invoice may have several. */
const DIRTY_ROWS_PER_INVOICE = 4

/**
 * Payments on MongoDB: the scanner's truth. `random` makes the public ids and marks each scanner write.
 */
export function createPaymentRepository(db: Database, random: Random): PaymentRepository {
  const payments = db.collection(PAYMENTS)
  return {
    recordSightings: (sightings, epoch, at) => recordSightings(payments, random, sightings, epoch, at),
    ...createChainMoves(db, payments, random),
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
    ...createPaymentLookups(payments),
    findByKeys: async (keys) =>
      keys.length === 0 ? [] : (await payments.find({ key: { $in: [...keys] } }).toArray()).map(paymentFromDocument),
    attributedAmong: async (keys) => {
      const found = await payments
        .find({ key: { $in: [...keys] }, invoiceId: { $ne: null } }, { projection: { _id: 0, key: 1 } })
        .toArray()
      return new Set(found.map(({ key }) => key))
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
    takeDirtyInvoices: async ({ before, at, limit }) => {
      const overdue = { dirtyAt: { $lte: toDate(before) } }
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
