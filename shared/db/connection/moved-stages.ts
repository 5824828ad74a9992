/** The collections that one another's lists look into, by name: each model imports this folder. */
const PAYMENTS = 'payments'
const INVOICES = 'invoices'

/** Stages that keep only invoices of which a payment was confirmed, or ceased to be, within the bounds. */
export const havingBooked = (within: object) => [
  {
    $lookup: {
      ...{ from: PAYMENTS, localField: '_id', foreignField: 'invoiceId', as: 'booked' },
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
      ...{ from: INVOICES, localField: 'invoiceId', foreignField: '_id', as: 'paid' },
      pipeline: [{ $match: { paidAt: { $ne: null, ...within } } }, { $project: { _id: 1 } }],
    },
  },
  { $match: { 'paid.0': { $exists: true } } },
  { $unset: 'paid' },
]
