import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'

/** Stages that keep only invoices of which a payment was confirmed, or ceased to be, within the bounds. */
export const havingBooked = (within: object) => [
  {
    $lookup: {
      ...{ from: PAYMENTS.name, localField: '_id', foreignField: 'invoiceId', as: 'booked' },
      pipeline: [{ $match: { bookedAt: { $elemMatch: within } } }, { $limit: 1 }, { $project: { _id: 1 } }],
    },
  },
  { $match: { 'booked.0': { $exists: true } } },
  { $unset: 'booked' },
]

/** Stages that keep only payments of invoices that were paid within the bounds. */
export const ofInvoicesPaid = (within: object) => [
  {
    $lookup: {
      ...{ from: INVOICES.name, localField: 'invoiceId', foreignField: '_id', as: 'paid' },
      pipeline: [{ $match: { paidAt: { $ne: null, ...within } } }, { $project: { _id: 1 } }],
    },
  },
  { $match: { 'paid.0': { $exists: true } } },
  { $unset: 'paid' },
]
