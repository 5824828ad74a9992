import { DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import { REFUND_STATUSES } from '#shared/domain/enumerations.ts'
import type { Refund } from '#shared/ports/refunds.ts'

/** A stored refund; the amount is a decimal string of base units. */
export type RefundDocument = Omit<
  Refund,
  'id' | 'amountBase' | 'expiresAt' | 'addressedAt' | 'sentAt' | 'createdAt'
> & {
  _id: string
  amountBase: string
  expiresAt: Date
  addressedAt: Date | null
  sentAt: Date | null
  createdAt: Date
}

/** The refunds collection; kept as long as the invoices they belong to. */
export const REFUNDS = defineCollection<RefundDocument>(
  'refunds',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    invoiceId: TEXT,
    asset: TEXT,
    network: TEXT,
    amountBase: TEXT,
    status: { type: String, enum: REFUND_STATUSES, required: true },
    tokenHash: TEXT,
    expiresAt: DATE,
    address: optional(String),
    addressedAt: optional(Date),
    txHash: optional(String),
    sentAt: optional(Date),
    askedBy: TEXT,
    sentBy: optional(String),
    createdAt: DATE,
  },
  [
    { name: 'refund_token', key: { tokenHash: 1 }, unique: true },
    { name: 'refund_invoice', key: { invoiceId: 1, createdAt: -1 } },
  ],
)
