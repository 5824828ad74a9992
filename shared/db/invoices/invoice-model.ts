import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type {
  AssetId,
  Family,
  FiatCode,
  InvoiceStatus,
  Mode,
  NetworkId,
  PaymentState,
} from '#shared/domain/enumerations.ts'
import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import type { OpenException, QuotePolicy, RateProvenance, UncountedReason } from '#shared/domain/invoice/model.ts'
import type { OutboxEntry } from '#shared/ports/invoices.ts'

/** Amounts of base units are decimal strings, because BSON has no integer type that holds them all. */
export interface QuoteDocument {
  amountBase: string
  amount: string
  fiatPerAsset: string
  lockedAt: Date
  expiresAt: Date
  uri: string
  provenance: Omit<RateProvenance, 'snapshotAt'> & { snapshotAt: Date }
  rest?: { wholeBase: string; restBase: string }
}

/** A payment method with all its quotes. */
export interface PaymentMethodDocument {
  asset: AssetId
  network: NetworkId
  family: Family
  symbol: string
  decimals: number
  address: string
  matchKey: string
  claim: string
  formerClaims?: readonly string[]
  hold?: { kind: 'address' | 'amount'; quarantineMs: number; heldMs: number; releasedAt: Date | null }
  priorHold?: { invoiceId: string; workspaceId: string; number: number; until: Date }
  draws?: readonly string[]
  reference?: string
  coin?: true
  requiredConfirmations: number
  policy: Record<'toleranceBase' | 'overToleranceBase' | 'dustBase', string> &
    Pick<QuotePolicy, 'lateGraceMs' | 'lateDriftBps' | 'depositBps' | 'isUseGone'>
  quotes: QuoteDocument[]
  repricedAt?: Date
  from: Date
  to: Date | null
}

/** A row of the invoice's ledger, for one payment. */
export interface LedgerDocument {
  payment: string
  version: number
  state: PaymentState
  amountBase: string
  firstSeenAt: Date
  counted: boolean
  uncountedReason: UncountedReason | null
  acceptedBase: string | null
  countedByHand?: true
  late: boolean
  rateSeen: string | null
  eligible: boolean
  simulated: boolean
  detected: boolean
  confirmed: boolean
  lateAnnounced: boolean
}

/** An outbox entry as stored; only the time differs from the port's shape. */
export type OutboxDocument = Omit<OutboxEntry, 'at'> & { at: Date }

/** The idempotency guard of the request that created the invoice. */
export interface IdempotencyGuardDocument {
  key: string
  fingerprint: string
  requestId: string
  at: Date
}

/** The fields that `transition` may change; `save` sets them all. */
export interface InvoiceStateDocument {
  status: InvoiceStatus
  expiresAt: Date
  endsWithQuote: boolean
  paidAt: Date | null
  updatedAt: Date
  version: number
  eventSeq: number
  locks: PaymentMethodDocument[]
  ledger: LedgerDocument[]
  others: { count: number; seenBase: string; confirmedBase: string; digest: string } | null
  exceptions: OpenException[]
  paidLate: boolean
  underpaidAccepted: boolean
  partialAnnouncedBase: string
  confirmingSince: Date | null
  /** `<mode>:<network>` of the active payment method, otherwise `none`: the chain whose time drives this invoice. */
  actionChain: string
  /** What a link's visitor holds of budgets; absent for all others. */
  visit?: { places: readonly string[]; repeats: number; quotesUntil: Date | null }
}

/** A stored invoice. Optional fields are absent, not null, so that partial indexes stay small. */
export interface InvoiceDocument extends InvoiceStateDocument {
  _id: string
  workspaceId: string
  mode: Mode
  number: number
  description: string | null
  orderId: string | null
  /** Pairs, because a key chosen by a merchant may contain characters that a field name must not. */
  metadata: { k: string; v: string }[]
  fiat: { minor: string; currency: FiatCode }
  /** Absent where the price needs no conversion or no rate was known. */
  reporting?: { currency: FiatCode; rate: string; at: Date }
  customer: { email: string | null; name: string | null }
  successUrl: string | null
  cancelUrl: string | null
  paymentLinkId: string | null
  productId: string | null
  /** `<link>:<place>` of a limited payment link; absent when none. */
  linkUse?: string
  source: 'link' | 'api' | 'manual' | 'billing'
  createdAt: Date
  /** Every address and amount this invoice ever reserved; absent when none, because an empty array would collide. */
  claims?: string[]
  /** Claims that this invoice returned; absent when none. The next holder reads the previous one here. */
  returned?: string[]
  /** Until when the next holder of any of them gets exact amounts only. */
  returnedUntil?: Date
  /** Places in visitor budgets that its unpaid claims take; absent when none. */
  draws?: string[]
  /** When the first of its temporary claims may be released; absent when none is left. */
  releaseAt?: Date
  nextActionAt?: Date
  outbox: OutboxDocument[]
  outboxShard: number
  /** Time of the oldest unrelayed entry; absent when the outbox is empty. */
  outboxAt?: Date
  /** When copies of an erased customer are to be searched again; absent otherwise. */
  eraseSweepAt?: Date
  /** Of operators, oldest first; absent when there are none. Texts are null once the customer was erased. */
  notes?: { opId: string; by: string; at: Date; text: string | null }[]
  lastOps: { opId: string; seq: number }[]
  /** Raised with every refund that is opened or withdrawn, so that they conflict with each other and with changes of the state; absent when none. */
  refundSeq?: number
  idem?: IdempotencyGuardDocument
}

/** The invoices collection. The unique indexes are the guards of numbering, idempotency and address ownership. */
export const INVOICES = defineCollection<InvoiceDocument>(
  'invoices',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    number: COUNT,
    description: optional(String),
    orderId: optional(String),
    metadata: [{ _id: false, k: String, v: String }],
    fiat: { minor: TEXT, currency: TEXT },
    reporting: optional(Object),
    customer: { email: optional(String), name: optional(String) },
    successUrl: optional(String),
    cancelUrl: optional(String),
    paymentLinkId: optional(String),
    productId: optional(String),
    linkUse: optional(String),
    source: TEXT,
    createdAt: DATE,
    status: { type: String, enum: INVOICE_STATUSES, required: true },
    expiresAt: DATE,
    endsWithQuote: Boolean,
    paidAt: optional(Date),
    updatedAt: DATE,
    version: COUNT,
    eventSeq: COUNT,
    locks: { type: [Object], required: true },
    ledger: { type: [Object], required: true },
    others: optional(Object),
    exceptions: { type: [Object], required: true },
    paidLate: Boolean,
    underpaidAccepted: Boolean,
    partialAnnouncedBase: TEXT,
    confirmingSince: optional(Date),
    actionChain: TEXT,
    nextActionAt: optional(Date),
    claims: optional([String]),
    returned: optional([String]),
    returnedUntil: optional(Date),
    draws: optional([String]),
    visit: optional(Object),
    releaseAt: optional(Date),
    outbox: { type: [Object], required: true },
    outboxShard: COUNT,
    outboxAt: optional(Date),
    eraseSweepAt: optional(Date),
    notes: optional([Object]),
    lastOps: [{ _id: false, opId: String, seq: Number }],
    refundSeq: optional(Number),
    idem: optional(Object),
  },
  [
    { name: 'invoice_number', key: { workspaceId: 1, mode: 1, number: 1 }, unique: true },
    {
      name: 'invoice_idempotency_key',
      key: { workspaceId: 1, mode: 1, 'idem.key': 1 },
      unique: true,
      partialFilterExpression: { 'idem.key': { $exists: true } },
    },
    {
      name: 'invoice_claims',
      key: { claims: 1 },
      unique: true,
      partialFilterExpression: { claims: { $exists: true } },
    },
    {
      name: 'invoice_draws',
      key: { draws: 1 },
      unique: true,
      partialFilterExpression: { draws: { $exists: true } },
    },
    {
      name: 'invoice_returned',
      key: { returned: 1, returnedUntil: 1 },
      partialFilterExpression: { returned: { $exists: true } },
    },
    { name: 'invoice_list', key: { workspaceId: 1, mode: 1, _id: -1 } },
    { name: 'invoice_list_by_status', key: { workspaceId: 1, mode: 1, status: 1, _id: -1 } },
    {
      name: 'invoice_paid',
      key: { workspaceId: 1, mode: 1, paidAt: -1 },
      partialFilterExpression: { paidAt: { $type: 'date' } },
    },
    {
      name: 'invoice_list_by_order',
      key: { workspaceId: 1, mode: 1, orderId: 1, _id: -1 },
      // Equality with a text implies "greater than empty", but not a type: this lets the planner use the index.
      partialFilterExpression: { orderId: { $gt: '' } },
    },
    {
      name: 'invoice_list_by_customer',
      key: { workspaceId: 1, mode: 1, 'customer.email': 1, _id: -1 },
      partialFilterExpression: { 'customer.email': { $gt: '' } },
    },
    {
      name: 'invoice_erase_sweep',
      key: { eraseSweepAt: 1 },
      partialFilterExpression: { eraseSweepAt: { $exists: true } },
    },
    {
      name: 'invoice_outbox',
      key: { outboxShard: 1, outboxAt: 1 },
      partialFilterExpression: { outboxAt: { $exists: true } },
    },
    {
      name: 'invoice_next_action',
      key: { actionChain: 1, nextActionAt: 1 },
      partialFilterExpression: { nextActionAt: { $exists: true } },
    },
    {
      name: 'invoice_reference',
      key: { 'locks.reference': 1 },
      partialFilterExpression: { 'locks.reference': { $exists: true } },
    },
    {
      name: 'invoice_coin_lock',
      key: { 'locks.network': 1, mode: 1, expiresAt: 1 },
      partialFilterExpression: { 'locks.coin': true },
    },
    {
      name: 'invoice_lock_deadline',
      key: { mode: 1, 'locks.network': 1, expiresAt: 1 },
      partialFilterExpression: { 'locks.network': { $exists: true } },
    },
    {
      name: 'invoice_release',
      key: { releaseAt: 1, _id: 1 },
      partialFilterExpression: { releaseAt: { $exists: true } },
    },
    {
      name: 'invoice_changed',
      key: { updatedAt: 1, _id: 1 },
      // A create, which must be fast, writes no such index: ids contain its time.
      partialFilterExpression: { version: { $gt: 1 } },
    },
    {
      name: 'invoice_link_use',
      key: { linkUse: 1 },
      unique: true,
      partialFilterExpression: { linkUse: { $exists: true } },
    },
    {
      // Counts the invoices of a link from an id on.
      name: 'invoice_of_link',
      key: { paymentLinkId: 1, _id: 1 },
      partialFilterExpression: { paymentLinkId: { $gt: '' } },
    },
  ],
)
