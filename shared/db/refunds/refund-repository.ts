import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Refund, RefundClaims } from '#shared/ports/refunds.ts'
import { REFUNDS, type RefundDocument } from './refund-model.ts'

type Filter = mongoose.mongo.Filter<RefundDocument>

/**
 * Refunds on MongoDB. Every change is a compare-and-set on the status, in one transaction with its audit row. Those that change what is
 * claimed of an invoice, or what its payer sees, also write the invoice, so that of two at once the store runs one again after the other.
 */
export function createRefundRepository(db: Database) {
  const refunds = db.collection(REFUNDS)
  const one = async (filter: Filter): Promise<Refund | null> => REFUNDS.toRecord(await refunds.findOne(filter))
  const raise = async (invoiceId: string, session: mongoose.mongo.ClientSession): Promise<void> => {
    const raised = await db.collection(INVOICES).updateOne({ _id: invoiceId }, { $inc: { refundSeq: 1 } }, { session })
    if (raised.matchedCount !== 1) throw new Error(`a refund belongs to the unknown invoice ${invoiceId}`)
  }
  const end = (id: string, fields: Partial<RefundDocument>, audit: AuditRecord): Promise<boolean> =>
    audited(db, audit, async (session) => {
      const open: Filter = { _id: id, status: { $in: ['requested', 'addressed'] } }
      const ended = await refunds.findOneAndUpdate(open, { $set: fields }, { session })
      if (ended === null) return false
      await raise(ended.invoiceId, session)
      return true
    })
  return {
    /**
     * Stores a refund in one transaction with its audit row and the mails that `check` returns, or returns the one that already has the id.
     * `check` sees what is true when the refund is stored: two refunds of an invoice never pass it side by side, because each raises the
     * invoice's `refundSeq`. It may run several times; what it throws leaves everything as it was.
     */
    open: async (
      refund: Refund,
      audit: AuditRecord,
      check: (claims: RefundClaims) => Promise<readonly MailRecord[]>,
    ): Promise<Refund> => {
      const { _id, ...rest } = REFUNDS.toDocument(refund)
      const { invoiceId } = refund
      await audited(db, audit, async (session) => {
        const opened = await refunds.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        if (opened.upsertedCount !== 1) return false
        await raise(invoiceId, session)
        const payments = await db
          .collection(PAYMENTS)
          .find({ invoiceId, state: 'confirmed' }, { session, projection: { asset: 1, state: 1, amountBase: 1 } })
          .toArray()
        const others = await refunds.find({ invoiceId, _id: { $ne: _id } }, { session }).toArray()
        return await check({
          payments: payments.map((payment) => ({ ...payment, amountBase: BigInt(payment.amountBase) })),
          refunds: others.map(REFUNDS.toRecord),
        })
      })
      return (await one({ _id })) ?? refund
    },
    findInWorkspace: (workspaceId: string, mode: Mode, id: string): Promise<Refund | null> =>
      one({ _id: id, workspaceId, mode }),
    findByTokenHash: (tokenHash: string): Promise<Refund | null> => one({ tokenHash }),
    /** Newest first. */
    listByInvoice: async (invoiceId: string): Promise<readonly Refund[]> =>
      (await refunds.find({ invoiceId }).sort({ createdAt: -1 }).toArray()).map(REFUNDS.toRecord),
    /** Those of these invoices, oldest first. */
    ofInvoices: async (invoiceIds: readonly string[]): Promise<readonly Refund[]> =>
      (
        await refunds
          .find({ invoiceId: { $in: [...invoiceIds] } })
          .sort({ createdAt: 1, _id: 1 })
          .toArray()
      ).map(REFUNDS.toRecord),
    /** `requested` → `addressed`, together with the audit row; false when it is not `requested`. */
    giveAddress: (id: string, address: string, at: Ms, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const fields = { status: 'addressed', address, addressedAt: toDate(at) } as const
        return (
          (await refunds.updateOne({ _id: id, status: 'requested' }, { $set: fields }, { session })).matchedCount === 1
        )
      }),
    /** `requested` or `addressed` → `sent`, together with the audit row; raises the invoice's `refundSeq`. False when it is neither. */
    noteSent: (
      id: string,
      { by, at, ...sent }: Pick<Refund, 'market'> & { readonly txHash: string; readonly at: Ms; readonly by: string },
      audit: AuditRecord,
    ): Promise<boolean> => end(id, REFUNDS.toFields({ ...sent, status: 'sent', sentAt: at, sentBy: by }), audit),
    /** `requested` or `addressed` → `withdrawn`, together with the audit row; raises the invoice's `refundSeq`. False when it is neither. */
    withdraw: (id: string, audit: AuditRecord): Promise<boolean> => end(id, { status: 'withdrawn' }, audit),
  }
}
