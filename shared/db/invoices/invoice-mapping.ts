import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { heldClaims } from '#shared/domain/invoice/held-claims.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  isHeld,
  type LedgerRow,
  type PaymentMethod,
  type Quote,
} from '#shared/domain/invoice/model.ts'
import {
  type Invoice,
  type InvoiceIdempotency,
  type NewInvoice,
  type OutboxEntry,
  outboxShardOf,
} from '#shared/ports/invoices.ts'
import type {
  IdempotencyGuardDocument,
  InvoiceDocument,
  InvoiceStateDocument,
  LedgerDocument,
  OutboxDocument,
  PaymentMethodDocument,
  QuoteDocument,
} from './invoice-model.ts'

const quoteToDocument = (quote: Quote): QuoteDocument => ({
  amountBase: quote.amountBase.toString(),
  amount: quote.amount,
  fiatPerAsset: quote.fiatPerAsset,
  lockedAt: toDate(quote.lockedAt),
  expiresAt: toDate(quote.expiresAt),
  uri: quote.uri,
  provenance: { ...quote.provenance, snapshotAt: toDate(quote.provenance.snapshotAt) },
  ...(quote.rest !== undefined && {
    rest: { wholeBase: quote.rest.wholeBase.toString(), restBase: quote.rest.restBase.toString() },
  }),
})

const quoteFromDocument = (stored: QuoteDocument): Quote => ({
  amountBase: BigInt(stored.amountBase),
  amount: stored.amount,
  fiatPerAsset: stored.fiatPerAsset,
  lockedAt: toMs(stored.lockedAt),
  expiresAt: toMs(stored.expiresAt),
  uri: stored.uri,
  provenance: { ...stored.provenance, snapshotAt: toMs(stored.provenance.snapshotAt) },
  ...(stored.rest !== undefined && {
    rest: { wholeBase: BigInt(stored.rest.wholeBase), restBase: BigInt(stored.rest.restBase) },
  }),
})

/** A payment method as stored. */
export const paymentMethodToDocument = ({
  hold,
  priorHold,
  repricedAt,
  ...lock
}: PaymentMethod): PaymentMethodDocument => ({
  ...lock,
  ...(hold !== undefined && { hold: { ...hold, releasedAt: toDateOrNull(hold.releasedAt) } }),
  ...(priorHold !== undefined && { priorHold: { ...priorHold, until: toDate(priorHold.until) } }),
  ...(repricedAt !== undefined && { repricedAt: toDate(repricedAt) }),
  policy: {
    toleranceBase: lock.policy.toleranceBase.toString(),
    overToleranceBase: lock.policy.overToleranceBase.toString(),
    lateGraceMs: lock.policy.lateGraceMs,
    lateDriftBps: lock.policy.lateDriftBps,
    depositBps: lock.policy.depositBps,
    dustBase: lock.policy.dustBase.toString(),
    ...(lock.policy.isUseGone === true && { isUseGone: true }),
  },
  quotes: lock.quotes.map(quoteToDocument),
  from: toDate(lock.from),
  to: toDateOrNull(lock.to),
})

/** A stored payment method with its amounts as bigint and its times in milliseconds. */
export const paymentMethodFromDocument = ({
  hold,
  priorHold,
  repricedAt,
  ...stored
}: PaymentMethodDocument): PaymentMethod => ({
  ...stored,
  ...(hold !== undefined && { hold: { ...hold, releasedAt: toMsOrNull(hold.releasedAt) } }),
  ...(priorHold !== undefined && { priorHold: { ...priorHold, until: toMs(priorHold.until) } }),
  ...(repricedAt !== undefined && { repricedAt: toMs(repricedAt) }),
  policy: {
    toleranceBase: BigInt(stored.policy.toleranceBase),
    overToleranceBase: BigInt(stored.policy.overToleranceBase),
    lateGraceMs: stored.policy.lateGraceMs,
    lateDriftBps: stored.policy.lateDriftBps,
    depositBps: stored.policy.depositBps,
    dustBase: BigInt(stored.policy.dustBase),
    ...(stored.policy.isUseGone === true && { isUseGone: true }),
  },
  quotes: stored.quotes.map(quoteFromDocument),
  from: toMs(stored.from),
  to: toMsOrNull(stored.to),
})

const ledgerToDocument = (row: LedgerRow): LedgerDocument => ({
  ...row,
  amountBase: row.amountBase.toString(),
  acceptedBase: row.acceptedBase?.toString() ?? null,
  firstSeenAt: toDate(row.firstSeenAt),
})

const ledgerFromDocument = (stored: LedgerDocument): LedgerRow => ({
  ...stored,
  amountBase: BigInt(stored.amountBase),
  acceptedBase: stored.acceptedBase === null ? null : BigInt(stored.acceptedBase),
  firstSeenAt: toMs(stored.firstSeenAt),
})

/** Outbox entries as stored. */
export const outboxToDocuments = (entries: readonly OutboxEntry[]): OutboxDocument[] =>
  entries.map((entry) => ({ ...entry, at: toDate(entry.at) }))

/** Every address and amount that the invoice's payment methods, past and present, reserve; claims of released ones may be others' by now. */
export const claimsOf = (state: Pick<InvoiceState, 'locks'>): string[] => [
  ...new Set(state.locks.filter(isHeld).flatMap(claimsOfPaymentMethod)),
]

const claimsOfPaymentMethod = (lock: PaymentMethod): readonly string[] => [lock.claim, ...(lock.formerClaims ?? [])]

/** Claims that were returned, and until when their next holder gets exact amounts only. */
export function returnedOf(state: Pick<InvoiceState, 'locks'>): Pick<InvoiceDocument, 'returned' | 'returnedUntil'> {
  const locks = state.locks.filter((lock) => !isHeld(lock))
  if (locks.length === 0) return {}
  const until = Math.max(...locks.map(({ hold }) => (hold?.releasedAt ?? 0) + (hold?.quarantineMs ?? 0)))
  return { returned: [...new Set(locks.flatMap(claimsOfPaymentMethod))], returnedUntil: toDate(until) }
}

/** Places in visitor budgets: of the visit itself and of valid claims, until the invoice is paid for the first time. */
export const drawsOf = ({ locks, paidAt, visit }: Pick<InvoiceState, 'locks' | 'paidAt' | 'visit'>): string[] => {
  if (paidAt !== null) return []
  return [...new Set([...(visit?.places ?? []), ...locks.filter(isHeld).flatMap(({ draws = [] }) => draws)])]
}

/** Whether the invoice ever took a place in a budget. */
export const mayHaveDrawn = ({ locks, visit }: Pick<InvoiceState, 'locks' | 'visit'>): boolean =>
  visit !== undefined || locks.some(({ draws }) => draws !== undefined)

/** When the first of the invoice's claims may end; null when all are permanent. */
export function releaseTimeOf(state: Pick<InvoiceState, 'locks' | 'expiresAt'>): Date | null {
  const held = heldClaims(state)
  return held.length === 0 ? null : toDate(Math.min(...held.map(({ dueAt }) => dueAt)))
}

/** The mutable fields as one write sets them; `nextActionAt` is separate because it may have to be unset. */
export function stateToDocument(state: InvoiceState): InvoiceStateDocument {
  const lock = activePaymentMethod(state)
  return {
    status: state.status,
    expiresAt: toDate(state.expiresAt),
    endsWithQuote: state.endsWithQuote,
    paidAt: toDateOrNull(state.paidAt),
    updatedAt: toDate(state.updatedAt),
    version: state.version,
    eventSeq: state.eventSeq,
    locks: state.locks.map(paymentMethodToDocument),
    ledger: state.ledger.map(ledgerToDocument),
    others:
      state.others === null
        ? null
        : {
            count: state.others.count,
            seenBase: state.others.seenBase.toString(),
            confirmedBase: state.others.confirmedBase.toString(),
            digest: state.others.digest,
          },
    exceptions: [...state.exceptions],
    paidLate: state.paidLate,
    underpaidAccepted: state.underpaidAccepted,
    partialAnnouncedBase: state.partialAnnouncedBase.toString(),
    confirmingSince: toDateOrNull(state.confirmingSince),
    actionChain: lock === null ? 'none' : `${state.mode}:${lock.network}`,
    ...(state.visit !== undefined && {
      visit: { ...state.visit, quotesUntil: toDateOrNull(state.visit.quotesUntil) },
    }),
  }
}

function stateFromDocument(stored: InvoiceDocument): InvoiceState {
  return {
    status: stored.status,
    mode: stored.mode,
    createdAt: toMs(stored.createdAt),
    expiresAt: toMs(stored.expiresAt),
    endsWithQuote: stored.endsWithQuote,
    paidAt: toMsOrNull(stored.paidAt),
    updatedAt: toMs(stored.updatedAt),
    version: stored.version,
    eventSeq: stored.eventSeq,
    locks: stored.locks.map(paymentMethodFromDocument),
    ledger: stored.ledger.map(ledgerFromDocument),
    others:
      stored.others === null
        ? null
        : {
            count: stored.others.count,
            seenBase: BigInt(stored.others.seenBase),
            confirmedBase: BigInt(stored.others.confirmedBase),
            digest: stored.others.digest,
          },
    exceptions: stored.exceptions,
    paidLate: stored.paidLate,
    underpaidAccepted: stored.underpaidAccepted,
    partialAnnouncedBase: BigInt(stored.partialAnnouncedBase),
    confirmingSince: toMsOrNull(stored.confirmingSince),
    nextActionAt: stored.nextActionAt === undefined ? null : toMs(stored.nextActionAt),
    ...(stored.visit !== undefined && {
      visit: { ...stored.visit, quotesUntil: toMsOrNull(stored.visit.quotesUntil) },
    }),
  }
}

/** The whole document of a new invoice: state, outbox, claims and idempotency guard in one insert. */
export function invoiceToDocument(invoice: NewInvoice): InvoiceDocument {
  const { terms, state, outbox, idempotency, opId } = invoice
  const claims = claimsOf(state)
  const draws = drawsOf(state)
  const first = outbox[0]
  const releaseAt = releaseTimeOf(state)
  return {
    _id: terms.id,
    workspaceId: terms.workspaceId,
    mode: terms.mode,
    number: terms.number,
    description: terms.description,
    orderId: terms.orderId,
    metadata: Object.entries(terms.metadata).map(([k, v]) => ({ k, v })),
    fiat: { minor: terms.fiat.minor.toString(), currency: terms.fiat.currency },
    ...(terms.reporting !== undefined && { reporting: { ...terms.reporting, at: toDate(terms.reporting.at) } }),
    customer: { email: terms.customer.email, name: terms.customer.name },
    successUrl: terms.successUrl,
    cancelUrl: terms.cancelUrl,
    paymentLinkId: terms.paymentLinkId,
    productId: terms.productId,
    source: terms.source,
    createdAt: toDate(terms.createdAt),
    ...stateToDocument(state),
    ...(claims.length > 0 && { claims }),
    ...(draws.length > 0 && { draws }),
    ...(releaseAt !== null && { releaseAt }),
    ...(state.nextActionAt !== null && { nextActionAt: toDate(state.nextActionAt) }),
    outbox: outboxToDocuments(outbox),
    outboxShard: outboxShardOf(terms.id),
    ...(first !== undefined && { outboxAt: toDate(first.at) }),
    lastOps: opId === null ? [] : [{ opId, seq: state.eventSeq }],
    ...(idempotency !== null && { idem: idempotencyToDocument(idempotency) }),
    ...(invoice.linkUse !== undefined && { linkUse: invoice.linkUse }),
  }
}

const idempotencyToDocument = (guard: InvoiceIdempotency): IdempotencyGuardDocument => ({
  key: guard.key,
  fingerprint: guard.fingerprint,
  requestId: guard.requestId,
  at: toDate(guard.at),
})

/** The guard as the port shows it. */
export const idempotencyFromDocument = (stored: IdempotencyGuardDocument): InvoiceIdempotency => ({
  ...stored,
  at: toMs(stored.at),
})

/** A stored invoice with its terms, state, recent operations and unrelayed entries. */
export function invoiceFromDocument(stored: InvoiceDocument): Invoice {
  return {
    terms: {
      id: stored._id,
      workspaceId: stored.workspaceId,
      mode: stored.mode,
      number: stored.number,
      description: stored.description,
      orderId: stored.orderId,
      metadata: Object.fromEntries(stored.metadata.map(({ k, v }) => [k, v])),
      fiat: { minor: BigInt(stored.fiat.minor), currency: stored.fiat.currency },
      ...(stored.reporting !== undefined && { reporting: { ...stored.reporting, at: toMs(stored.reporting.at) } }),
      customer: stored.customer,
      successUrl: stored.successUrl,
      cancelUrl: stored.cancelUrl,
      paymentLinkId: stored.paymentLinkId,
      productId: stored.productId,
      source: stored.source,
      createdAt: toMs(stored.createdAt),
    },
    state: stateFromDocument(stored),
    lastOps: stored.lastOps,
    outbox: stored.outbox.map((entry) => ({ ...entry, at: toMs(entry.at) })),
    refundSeq: stored.refundSeq ?? 0,
  }
}
