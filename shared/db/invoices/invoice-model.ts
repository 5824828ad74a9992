import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { mappingOf } from '#shared/db/connection/record-mapping.ts'
import { AMOUNT, OWNED_FIELDS, objectAs, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import {
  type AssetId,
  type ExceptionKind,
  type Family,
  FIAT_CODES,
  INVOICE_STATUSES,
  type NetworkId,
  PAYMENT_STATES,
} from '#shared/domain/enumerations.ts'
import type { UncountedReason } from '#shared/domain/invoice/model.ts'
import type { OutboxEntry, OutboxNotice } from '#shared/ports/invoices.ts'

/** One quote given to the payer. */
const QUOTE = z.object({
  amountBase: AMOUNT,
  amount: z.string(),
  fiatPerAsset: z.string(),
  quotedAt: TIME,
  expiresAt: TIME,
  provenance: z.object({
    snapshotAt: TIME,
    sources: z.array(z.string()),
    fxSources: z.array(z.string()),
    spreadBps: z.number(),
    arsSeries: z.enum(['crypto', 'official']).exactOptional(),
  }),
  rest: z.object({ wholeBase: AMOUNT, restBase: AMOUNT }).exactOptional(),
})

/** A payment method with all its quotes. */
const PAYMENT_METHOD = z.object({
  asset: textAs<AssetId>(),
  network: textAs<NetworkId>(),
  family: textAs<Family>(),
  symbol: z.string(),
  decimals: z.number(),
  address: z.string(),
  matchKey: z.string(),
  claim: z.string(),
  formerClaims: z.array(z.string()).exactOptional(),
  hold: z
    .object({
      kind: z.enum(['address', 'amount']),
      quarantineMs: z.number(),
      heldMs: z.number(),
      releasedAt: TIME.nullable(),
    })
    .exactOptional(),
  priorHold: z
    .object({ invoiceId: z.string(), workspaceId: z.string(), number: z.number(), until: TIME })
    .exactOptional(),
  draws: z.array(z.string()).exactOptional(),
  watchPlaces: z.array(z.string()).exactOptional(),
  reference: z.string().exactOptional(),
  requiredConfirmations: z.number(),
  needsFinality: z.boolean().exactOptional(),
  policy: z.object({
    toleranceBase: AMOUNT,
    unitBase: AMOUNT,
    sendableBase: AMOUNT,
    lateGraceMs: z.number(),
    lateDriftBps: z.number(),
    depositBps: z.number(),
    dustBase: AMOUNT,
    isUseGone: z.literal(true).exactOptional(),
  }),
  quotes: z.array(QUOTE),
  repricedAt: TIME.exactOptional(),
  from: TIME,
  to: TIME.nullable(),
})

/** A row of the invoice's ledger, for one payment. */
const LEDGER_ROW = z.object({
  payment: z.string(),
  version: z.number(),
  state: z.enum(PAYMENT_STATES),
  amountBase: AMOUNT,
  firstSeenAt: TIME,
  counted: z.boolean(),
  uncountedReason: textAs<UncountedReason>().nullable(),
  acceptedBase: AMOUNT.nullable(),
  countedByHand: z.literal(true).exactOptional(),
  late: z.boolean(),
  rateSeen: z.string().nullable(),
  eligible: z.boolean(),
  simulated: z.boolean(),
  bookings: z.array(z.object({ at: TIME, worth: z.enum(['none', 'own', 'accepted']) })).exactOptional(),
  detected: z.boolean(),
  confirmed: z.boolean(),
  lateAnnounced: z.boolean(),
})

/** The terms as they are stored, but for the id and the metadata. */
const TERMS_FIELDS = {
  ...OWNED_FIELDS,
  number: z.number(),
  description: z.string().nullable(),
  orderId: z.string().nullable(),
  fiat: z.object({ minor: AMOUNT, currency: z.enum(FIAT_CODES) }),
  /** Absent where the price needs no conversion or no rate was known. */
  reporting: z.object({ currency: z.enum(FIAT_CODES), rate: z.string(), at: TIME }).exactOptional(),
  customer: z.object({ email: z.string().nullable(), name: z.string().nullable() }),
  successUrl: z.string().nullable(),
  cancelUrl: z.string().nullable(),
  paymentLinkId: z.string().nullable(),
  productId: z.string().nullable(),
  source: z.enum(['link', 'api', 'manual', 'billing']),
  createdAt: TIME,
} as const

/** The fields that `transition` may change. */
const STATE_FIELDS = {
  status: z.enum(INVOICE_STATUSES),
  expiresAt: TIME,
  endsWithQuote: z.boolean(),
  paidAt: TIME.nullable(),
  updatedAt: TIME,
  version: z.number(),
  eventSeq: z.number(),
  paymentMethods: z.array(PAYMENT_METHOD),
  ledger: z.array(LEDGER_ROW),
  others: z.object({ count: z.number(), seenBase: AMOUNT, confirmedBase: AMOUNT, digest: z.string() }).nullable(),
  claimedBase: AMOUNT.exactOptional(),
  exceptions: z.array(z.object({ exception: textAs<ExceptionKind>(), payment: z.string().nullable() })),
  paidLate: z.boolean(),
  underpaidAccepted: z.boolean(),
  partialAnnouncedBase: AMOUNT,
  confirmingSince: TIME.nullable(),
  /** What a link's visitor holds of budgets; absent for all others. */
  visit: z.object({ places: z.array(z.string()), repeats: z.number(), quotesUntil: TIME.nullable() }).exactOptional(),
} as const

/** An outbox entry; see the port for its fields. */
const OUTBOX_ENTRY = z.object({
  eventId: z.string(),
  seq: z.number(),
  kind: z.enum(['event', 'exception', 'exception_closed', 'mail', 'audit']),
  type: textAs<OutboxEntry['type']>(),
  at: TIME,
  snapshot: objectAs<OutboxEntry['snapshot']>(),
  payment: objectAs<Readonly<Record<string, unknown>>>().nullable(),
  paymentKey: z.string().nullable(),
  actor: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  notice: objectAs<OutboxNotice>().exactOptional(),
})

const STATE = z.object(STATE_FIELDS)

/** The mapping of the terms, but for the id and the metadata. */
export const INVOICE_TERMS = mappingOf(z.object(TERMS_FIELDS))
/** The mapping of the fields that `transition` may change. */
export const INVOICE_STATE = mappingOf(STATE)
/** The mapping of a payment method. */
export const INVOICE_METHOD = mappingOf(PAYMENT_METHOD)
/** The mapping of an outbox entry. */
export const INVOICE_OUTBOX = mappingOf(OUTBOX_ENTRY)

/** A payment method as stored, with all its quotes. */
export type PaymentMethodDocument = z.input<typeof PAYMENT_METHOD>
/** A row of the invoice's ledger as stored. */
export type LedgerDocument = z.input<typeof LEDGER_ROW>
/** An outbox entry as stored. */
export type OutboxDocument = z.input<typeof OUTBOX_ENTRY>
/** The fields that `save` sets. */
export type InvoiceStateDocument = z.input<typeof STATE> & Pick<InvoiceDocument, 'actionChain'>

/** The invoices collection. The unique indexes are the guards of numbering, idempotency and address ownership. */
export const INVOICES = defineCollection(
  'invoices',
  {
    _id: z.string(),
    ...TERMS_FIELDS,
    /** Pairs, because a key chosen by a merchant may contain characters that a field name must not. */
    metadata: z.array(z.object({ k: z.string(), v: z.string() })),
    /** `customerKey` of the e-mail address, by which customers are told apart; absent without one. */
    customerKey: z.string().exactOptional(),
    /** Words of the customer's name, which are erased with it, and the amount (`searchWordsOf`). */
    searchWords: z.array(z.string()),
    /** `<link>:<place>` of a limited payment link; absent when none. */
    linkUse: z.string().exactOptional(),
    ...STATE_FIELDS,
    /**
     * `<mode>:<network>` of the chain whose time the invoice's next check waits for, otherwise `none`: with each change that of the active payment
     * method, and once that has passed, of the chain furthest behind among those that can still pay it.
     */
    actionChain: z.string(),
    /** Every address and amount this invoice ever reserved; absent when none, because an empty array would collide. */
    claims: z.array(z.string()).exactOptional(),
    /** Claims that this invoice returned; absent when none. The next holder reads the previous one here. */
    returned: z.array(z.string()).exactOptional(),
    /** Until when the next holder of any of them gets exact amounts only. */
    returnedUntil: TIME.exactOptional(),
    /** Places in visitor budgets that its unpaid claims and open watches take; absent when none. */
    draws: z.array(z.string()).exactOptional(),
    /** When the first of its temporary claims may be released; absent when none is left. */
    releaseAt: TIME.exactOptional(),
    nextActionAt: TIME.exactOptional(),
    outbox: z.array(OUTBOX_ENTRY),
    outboxShard: z.number(),
    /** Time of the oldest unrelayed entry; absent when the outbox is empty. */
    outboxAt: TIME.exactOptional(),
    /** When copies of an erased customer are to be searched again; absent otherwise. */
    eraseSweepAt: TIME.exactOptional(),
    /** Of operators, oldest first; absent when there are none. Texts are null once the customer was erased. */
    notes: z
      .array(z.object({ opId: z.string(), by: z.string(), at: TIME, text: z.string().nullable() }))
      .exactOptional(),
    /** Operation ids of the last eight mutations. */
    lastOps: z.array(z.object({ opId: z.string(), seq: z.number() })),
    /** Raised with every refund that is opened or withdrawn, so that they conflict with each other and with changes of the state; absent when none. */
    refundSeq: z.number().exactOptional(),
    /** The idempotency guard of the request that created the invoice. */
    idem: z.object({ key: z.string(), fingerprint: z.string(), requestId: z.string(), at: TIME }).exactOptional(),
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
      // Only invoices of which money was worth something else once it was booked.
      name: 'invoice_corrected',
      key: { workspaceId: 1, mode: 1, 'ledger.bookings.at': 1 },
      partialFilterExpression: { 'ledger.bookings.1': { $exists: true } },
    },
    {
      name: 'invoice_list_by_order',
      key: { workspaceId: 1, mode: 1, orderId: 1, _id: -1 },
      // Equality with a text implies "greater than empty", but not a type: this lets the planner use the index.
      partialFilterExpression: { orderId: { $gt: '' } },
    },
    {
      name: 'invoice_list_by_customer',
      key: { workspaceId: 1, mode: 1, customerKey: 1, _id: -1 },
      partialFilterExpression: { customerKey: { $gt: '' } },
    },
    { name: 'invoice_search', key: { workspaceId: 1, mode: 1, searchWords: 1, _id: -1 } },
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
      key: { 'paymentMethods.reference': 1 },
      partialFilterExpression: { 'paymentMethods.reference': { $exists: true } },
    },
    {
      name: 'invoice_method_deadline',
      key: { mode: 1, 'paymentMethods.network': 1, expiresAt: 1 },
      partialFilterExpression: { 'paymentMethods.network': { $exists: true } },
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
  // No validator: invoices are written on the hot path.
  { validator: null },
)

/** A stored invoice. Optional fields are absent, not null, so that partial indexes stay small. */
export type InvoiceDocument = StoredOf<typeof INVOICES>
