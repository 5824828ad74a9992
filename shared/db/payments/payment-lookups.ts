import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import type { PaymentRepository } from '#shared/ports/payments.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import type { PaymentDocument } from './payment-model.ts'

/** What people on call ask about payments, and what they may change. */
type Lookups = Pick<
  PaymentRepository,
  'findById' | 'listByTransaction' | 'listByKeyPrefix' | 'listInBlocks' | 'listUnheld' | 'countInBlocks' | 'attribute'
>

/** The part of the payment repository that operators use. */
export function createPaymentLookups(payments: mongoose.mongo.Collection<PaymentDocument>): Lookups {
  // ';' follows ':' in ASCII: a range of the unique index.
  const listByKeyPrefix = async (prefix: string) => {
    const found = await payments
      .find({ key: { $gte: `${prefix}:`, $lt: `${prefix};` } })
      .sort({ key: 1 })
      .toArray()
    return found.map(paymentFromDocument)
  }
  return {
    findById: async (id) => {
      const stored = await payments.findOne({ _id: id })
      return stored === null ? null : paymentFromDocument(stored)
    },
    // Transfer keys begin with their transaction.
    listByTransaction: (mode, network, txHash) => listByKeyPrefix(`${mode}:${network}:${txHash}`),
    listByKeyPrefix,
    listInBlocks: async ({ mode, network, asset, matchKeys, from, to }) => {
      const found = await payments
        .find({
          network,
          mode,
          'block.height': { $gte: from, $lte: to },
          matchKey: { $in: [...matchKeys] },
          asset,
          kind: 'onchain',
          state: { $in: ['detected', 'confirmed'] },
        })
        .toArray()
      return found.map(paymentFromDocument)
    },
    listUnheld: async (mode, matchKeys, limit) =>
      (
        await payments
          .find({ matchKey: { $in: [...matchKeys] }, invoiceId: null, mode }, { hint: 'payment_address' })
          .sort({ _id: -1 })
          .limit(limit)
          .toArray()
      ).map(paymentFromDocument),
    countInBlocks: async ({ mode, network, from, to }) => {
      const found = await payments
        .aggregate<{ _id: PaymentDocument['state']; count: number }>([
          {
            $match: {
              network,
              mode,
              'block.height': { $gte: from, $lte: to },
              state: { $in: ['detected', 'confirmed'] },
            },
          },
          { $group: { _id: '$state', count: { $sum: 1 } } },
        ])
        .toArray()
      const confirmed = found.find((row) => row._id === 'confirmed')?.count ?? 0
      return { live: found.reduce((sum, row) => sum + row.count, 0), confirmed }
    },
    attribute: async ({ id, version }, owner, at) => {
      const given = await payments.updateOne(
        { _id: id, version, invoiceId: null, state: 'confirmed' },
        { $set: { ...owner, version: version + 1, dirtyAt: toDate(at), updatedAt: toDate(at) } },
      )
      return given.matchedCount === 1
    },
  }
}
