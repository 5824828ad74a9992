import type mongoose from 'mongoose'
import type { Payment } from '#shared/ports/payments.ts'
import { BY_KEY } from './payment-keys.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import type { PaymentDocument } from './payment-model.ts'

/** Outpoints are only for the scanner. */
const WITHOUT_SPENDS = { projection: { spends: 0 } } as const

/** Reads of one invoice's payments. */
export function createInvoicePayments(payments: mongoose.mongo.Collection<PaymentDocument>) {
  const withoutSpends = (stored: PaymentDocument): Payment => paymentFromDocument({ ...stored, spends: [] })

  return {
    /** All of them, oldest first, with their outpoints. */
    listByInvoice: async (invoiceId: string): Promise<readonly Payment[]> =>
      (await payments.find({ invoiceId }).sort({ _id: 1 }).toArray()).map(paymentFromDocument),
    /** All of them without their outpoints, oldest first: what a fold needs. */
    listForFold: async (invoiceId: string): Promise<readonly Payment[]> =>
      (await payments.find({ invoiceId }, WITHOUT_SPENDS).sort({ _id: 1 }).toArray()).map(withoutSpends),
    /** Those with one of these transfer keys, without their outpoints, in no order. */
    listAmong: async (invoiceId: string, keys: readonly string[]): Promise<readonly Payment[]> =>
      keys.length === 0
        ? []
        : (
            await payments
              .find({ ...BY_KEY.among(keys), invoiceId }, { ...WITHOUT_SPENDS, hint: BY_KEY.hint })
              .toArray()
          ).map(withoutSpends),
    /** The newest ones that ended in no block. */
    listEnded: async (invoiceId: string, limit: number): Promise<readonly Payment[]> =>
      (
        await payments
          .find({ invoiceId, state: { $in: ['orphaned', 'dropped', 'replaced'] } })
          .sort({ _id: -1 })
          .limit(limit)
          .toArray()
      ).map(paymentFromDocument),
  }
}
