import mongoose from 'mongoose'
import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { AMOUNT, objectAs, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { type AssetId, MODES, type NetworkId, PAYMENT_STATES } from '#shared/domain/enumerations.ts'
import type { BalanceIncrease } from '#shared/ports/scanned-blocks.ts'

/** Unique index of the digests of transfer keys. */
export const KEY_INDEX = 'payment_key_digest'

/** A market price as it is kept with what it values. */
export const MARKET = z.object({
  fiatPerAsset: z.string(),
  decimals: z.number(),
  at: TIME,
  sources: z.array(z.string()),
  fxSources: z.array(z.string()),
})

/** The payments collection. The unique transfer key is the guard that counts each transfer once. */
export const PAYMENTS = defineCollection(
  'payments',
  {
    /** UUIDv7: the public id, set when first seen. */
    _id: z.string(),
    /** Transfer key, unique in the installation. */
    key: z.string(),
    /** `paymentKeyDigest` of `key`. */
    keyDigest: z.instanceof(mongoose.mongo.Binary).meta({ bsonType: 'binData' }),
    mode: z.enum(MODES),
    network: textAs<NetworkId>(),
    /** Null for a token that is known but not accepted. */
    asset: textAs<AssetId>().nullable(),
    /** Invoice the address belonged to when the transfer was first seen; never changed by re-mining. */
    invoiceId: z.string().nullable(),
    workspaceId: z.string().nullable(),
    matchKey: z.string(),
    toAddress: z.string(),
    fromAddress: z.string().nullable(),
    amountBase: AMOUNT,
    txHash: z.string().nullable(),
    outputIndex: z.number().nullable(),
    contract: z.string().nullable(),
    kind: z.enum(['onchain', 'simulated']),
    state: z.enum(PAYMENT_STATES),
    block: z
      .object({ height: z.number(), hash: z.string(), time: TIME, rise: objectAs<BalanceIncrease>().exactOptional() })
      .nullable(),
    requiredConfirmations: z.number(),
    /** Height at which the payment is confirmed; null while it is in no block. */
    confirmAt: z.number().nullable(),
    confirmedAt: TIME.nullable(),
    /**
     * When it was confirmed, when a reorganisation took that back, when it was confirmed again, and so on: only appended to. Money that was nobody's
     * was in no books: it is booked when a person gives it to an invoice.
     */
    bookedAt: z.array(TIME),
    /** The market's price when it was first seen, in the invoice's currency, kept because rates are deleted; null where none was known, absent until it was looked up. */
    market: MARKET.nullable().exactOptional(),
    /** Its block must also be finalized by the chain. */
    needsFinality: z.boolean(),
    /** Outpoints that its transaction spends, `<txid>:<vout>`; another transaction that spends one of them replaces it. Empty except on UTXO chains. */
    spends: z.array(z.string()),
    /** Transaction that replaced it. */
    replacedBy: z.string().nullable(),
    firstSeenAt: TIME,
    /** Increases with every visible change. */
    version: z.number(),
    /** Absent when every version was applied to the invoice, so that the partial index holds only open work. */
    dirtyAt: TIME.exactOptional(),
    /** Epoch of the scanner lease that wrote last; 0 for simulated payments. */
    scanEpoch: z.number(),
    /** Identifies the scanner write that changed the payment last; shows a batch which rows it changed. */
    scanWrite: z.string(),
    /** Set by the invoice's fold. */
    counted: z.boolean(),
    uncountedReason: z
      .enum([
        'wrong_asset',
        'wrong_network',
        'cancelled',
        'late',
        'out_of_quote',
        'unmatched',
        'inactive_payment_method',
        'dust',
      ])
      .nullable(),
    late: z.boolean(),
    /** `FoldPlace`: set by the invoice's fold; absent until then, and again when a payment that is aside changes. */
    place: z.string().exactOptional(),
    /** Operation that created a simulated payment. */
    opId: z.string().nullable(),
    createdAt: TIME,
    updatedAt: TIME,
  },
  [
    { name: KEY_INDEX, key: { keyDigest: 1 }, unique: true },
    { name: 'payment_list', key: { workspaceId: 1, mode: 1, _id: -1 } },
    // A search for an amount reads ids from it alone.
    { name: 'payment_amount', key: { workspaceId: 1, mode: 1, asset: 1, amountBase: 1, _id: -1 } },
    {
      // Has an entry for each time, and none for payments that were never confirmed.
      name: 'payment_booked',
      key: { workspaceId: 1, mode: 1, bookedAt: 1 },
      partialFilterExpression: { 'bookedAt.0': { $exists: true }, asset: { $gt: '' } },
    },
    { name: 'payment_invoice', key: { invoiceId: 1, _id: -1 } },
    { name: 'payment_place', key: { invoiceId: 1, place: 1, _id: 1 } },
    { name: 'payment_dirty', key: { dirtyAt: 1 }, partialFilterExpression: { dirtyAt: { $exists: true } } },
    {
      name: 'payment_confirm',
      key: { network: 1, mode: 1, confirmAt: 1 },
      partialFilterExpression: { state: 'detected' },
    },
    { name: 'payment_address', key: { matchKey: 1, invoiceId: 1, _id: -1 } },
    { name: 'payment_block', key: { network: 1, mode: 1, 'block.height': 1 } },
  ],
  // The digest is what makes a payment unique: none is stored without one. Nothing else: payments are written on the hot path.
  { hidden: ['keyDigest', 'scanWrite'], validator: { keyDigest: { $type: 'binData' } } },
)

/** A stored payment. Amounts are decimal strings of base units. */
export type PaymentDocument = StoredOf<typeof PAYMENTS>

type PaymentWhole = RecordOf<typeof PAYMENTS>

/** Where a payment is in the chain. The balance increase is stored as `rise`. */
export type PaymentBlock = Omit<NonNullable<PaymentWhole['block']>, 'rise'> & {
  /** The readings that showed the payment in this block; only without a transaction. */
  readonly increase?: BalanceIncrease
}

/** One transfer to a watched address. `key` is stable across mempool, re-mining and replay. */
export type Payment = Omit<PaymentWhole, 'block' | 'dirtyAt'> & {
  readonly block: PaymentBlock | null
  /** Set while a version is not yet applied to the invoice: since when, or when a sweep last returned it. Only a hint for the sweep. */
  readonly dirtyAt: PaymentWhole['createdAt'] | null
}
