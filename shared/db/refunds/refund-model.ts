import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { AMOUNT, OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { MARKET } from '#shared/db/payments/payment-model.ts'
import { type AssetId, type NetworkId, REFUND_STATUSES } from '#shared/domain/enumerations.ts'

/** The refunds collection; kept as long as the invoices they belong to. */
export const REFUNDS = defineCollection(
  'refunds',
  {
    _id: z.string(),
    ...OWNED_FIELDS,
    invoiceId: z.string(),
    asset: textAs<AssetId>(),
    network: textAs<NetworkId>(),
    amountBase: AMOUNT,
    status: z.enum(REFUND_STATUSES),
    /** SHA-256 of the token in the customer's link, hex. The token itself is never stored. */
    tokenHash: z.string(),
    /** From then on the link is invalid. */
    expiresAt: TIME,
    /** The customer's address; null until it is entered. Never changed afterwards. */
    address: z.string().nullable(),
    addressedAt: TIME.nullable(),
    txHash: z.string().nullable(),
    sentAt: TIME.nullable(),
    /** The market's price of the coin in the invoice's currency when it was sent; null before, and where none was known. */
    market: MARKET.nullable(),
    /** Who requested it, and who recorded the transaction: `user:<e-mail>`. */
    requestedBy: z.string(),
    sentBy: z.string().nullable(),
    createdAt: TIME,
  },
  [
    { name: 'refund_token', key: { tokenHash: 1 }, unique: true },
    { name: 'refund_invoice', key: { invoiceId: 1, createdAt: -1 } },
    { name: 'refund_sent', key: { sentAt: 1 }, partialFilterExpression: { sentAt: { $type: 'date' } } },
  ],
)

/** A stored refund. */
export type RefundDocument = StoredOf<typeof REFUNDS>

/**
 * Money that a merchant intends to refund. A record and not a transfer: an operator sends it from their own wallet, and
 * Paymesh never has a key for it.
 */
export type Refund = RecordOf<typeof REFUNDS>
