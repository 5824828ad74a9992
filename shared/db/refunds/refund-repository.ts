import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Refund, RefundRepository } from '#shared/ports/refunds.ts'
import { REFUNDS, type RefundDocument } from './refund-model.ts'

type Filter = mongoose.mongo.Filter<RefundDocument>

/** Refunds on MongoDB. Every change is a compare-and-set on the status, in one transaction with its audit row. */
export function createRefundRepository(db: Database): RefundRepository {
  const refunds = db.collection(REFUNDS)
  const one = async (filter: Filter): Promise<Refund | null> => {
    const stored = await refunds.findOne(filter)
    return stored === null ? null : fromDocument(stored)
  }
  const change = (filter: Filter, fields: Partial<RefundDocument>, audit: AuditRecord): Promise<boolean> =>
    audited(
      db,
      audit,
      async (session) => (await refunds.updateOne(filter, { $set: fields }, { session })).matchedCount === 1,
    )
  return {
    open: async (refund, audit) => {
      const { _id, ...rest } = toDocument(refund)
      await audited(db, audit, async (session) => {
        const opened = await refunds.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        return opened.upsertedCount === 1
      })
      return (await one({ _id })) ?? refund
    },
    findInWorkspace: (workspaceId, mode, id) => one({ _id: id, workspaceId, mode }),
    findByTokenHash: (tokenHash) => one({ tokenHash }),
    listByInvoice: async (invoiceId) =>
      (await refunds.find({ invoiceId }).sort({ createdAt: -1 }).toArray()).map(fromDocument),
    giveAddress: (id, address, at, audit) =>
      change({ _id: id, status: 'asked' }, { status: 'addressed', address, addressedAt: toDate(at) }, audit),
    noteSent: (id, { txHash, at, by }, audit) =>
      change(
        { _id: id, status: { $in: ['asked', 'addressed'] } },
        { status: 'sent', txHash, sentAt: toDate(at), sentBy: by },
        audit,
      ),
    withdraw: (id, audit) =>
      change({ _id: id, status: { $in: ['asked', 'addressed'] } }, { status: 'withdrawn' }, audit),
  }
}

function toDocument({ id, amountBase, expiresAt, addressedAt, sentAt, createdAt, ...same }: Refund): RefundDocument {
  return {
    _id: id,
    ...same,
    amountBase: amountBase.toString(),
    expiresAt: toDate(expiresAt),
    addressedAt: toDateOrNull(addressedAt),
    sentAt: toDateOrNull(sentAt),
    createdAt: toDate(createdAt),
  }
}

function fromDocument(stored: RefundDocument): Refund {
  const { _id, amountBase, expiresAt, addressedAt, sentAt, createdAt, ...same } = stored
  return {
    id: _id,
    ...same,
    amountBase: BigInt(amountBase),
    expiresAt: toMs(expiresAt),
    addressedAt: toMsOrNull(addressedAt),
    sentAt: toMsOrNull(sentAt),
    createdAt: toMs(createdAt),
  }
}
