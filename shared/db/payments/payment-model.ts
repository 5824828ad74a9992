import type mongoose from 'mongoose'
import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { AssetId, Mode, NetworkId, PaymentState } from '#shared/domain/enumerations.ts'
import { PAYMENT_STATES } from '#shared/domain/enumerations.ts'
import type { UncountedReason } from '#shared/ports/payments.ts'
import type { BalanceIncrease } from '#shared/ports/scanned-blocks.ts'

/** A stored payment. Amounts are decimal strings of base units. */
export interface PaymentDocument {
  _id: string
  key: string
  /** `paymentKeyDigest` of `key`. */
  keyDigest: mongoose.mongo.Binary
  mode: Mode
  network: NetworkId
  asset: AssetId | null
  invoiceId: string | null
  workspaceId: string | null
  matchKey: string
  toAddress: string
  fromAddress: string | null
  amountBase: string
  txHash: string | null
  outputIndex: number | null
  contract: string | null
  kind: 'onchain' | 'simulated'
  state: PaymentState
  block: { height: number; hash: string; time: Date; rise?: BalanceIncrease } | null
  requiredConfirmations: number
  confirmAt: number | null
  confirmedAt: Date | null
  needsFinality: boolean
  spends: string[]
  replacedBy: string | null
  firstSeenAt: Date
  version: number
  /** Absent when every version was applied to the invoice, so that the partial index holds only open work. */
  dirtyAt?: Date
  scanEpoch: number
  /** Identifies the scanner write that changed the payment last; shows a batch which rows it changed. */
  scanWrite: string
  counted: boolean
  uncountedReason: UncountedReason | null
  late: boolean
  opId: string | null
  createdAt: Date
  updatedAt: Date
}

/** Unique index of the digests of transfer keys. */
export const KEY_INDEX = 'payment_key_digest'

/** The payments collection. The unique transfer key is the guard that counts each transfer once. */
export const PAYMENTS = defineCollection<PaymentDocument>(
  'payments',
  {
    _id: TEXT,
    key: TEXT,
    keyDigest: { type: Buffer, required: true },
    mode: TEXT,
    network: TEXT,
    asset: optional(String),
    invoiceId: optional(String),
    workspaceId: optional(String),
    matchKey: TEXT,
    toAddress: TEXT,
    fromAddress: optional(String),
    amountBase: TEXT,
    txHash: optional(String),
    outputIndex: optional(Number),
    contract: optional(String),
    kind: { type: String, enum: ['onchain', 'simulated'], required: true },
    state: { type: String, enum: PAYMENT_STATES, required: true },
    block: optional(Object),
    requiredConfirmations: COUNT,
    confirmAt: optional(Number),
    confirmedAt: optional(Date),
    needsFinality: Boolean,
    spends: [String],
    replacedBy: optional(String),
    firstSeenAt: DATE,
    version: COUNT,
    dirtyAt: optional(Date),
    scanEpoch: COUNT,
    scanWrite: String,
    counted: Boolean,
    uncountedReason: optional(String),
    late: Boolean,
    opId: optional(String),
    createdAt: DATE,
    updatedAt: DATE,
  },
  [
    { name: KEY_INDEX, key: { keyDigest: 1 }, unique: true },
    { name: 'payment_list', key: { workspaceId: 1, mode: 1, _id: -1 } },
    {
      name: 'payment_settled',
      key: { workspaceId: 1, mode: 1, confirmedAt: -1, _id: -1 },
      partialFilterExpression: { state: 'confirmed', asset: { $gt: '' } },
    },
    { name: 'payment_invoice', key: { invoiceId: 1, _id: -1 } },
    { name: 'payment_dirty', key: { dirtyAt: 1 }, partialFilterExpression: { dirtyAt: { $exists: true } } },
    {
      name: 'payment_confirm',
      key: { network: 1, mode: 1, confirmAt: 1 },
      partialFilterExpression: { state: 'detected' },
    },
    { name: 'payment_address', key: { matchKey: 1, invoiceId: 1, _id: -1 } },
    { name: 'payment_block', key: { network: 1, mode: 1, 'block.height': 1 } },
  ],
  // The digest is what makes a payment unique: none is stored without one.
  { keyDigest: { $type: 'binData' } },
)
