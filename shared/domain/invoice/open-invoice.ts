import type { Mode } from '../enumerations.ts'
import { auditWrite } from './decide.ts'
import type { Attribution, Effect } from './invoice-event.ts'
import { type InvoiceState, type Ms, nextActionAt, type PaymentMethod, type Visit } from './model.ts'
import { latestQuote } from './quote-window.ts'

/** Input for the first state of an invoice. */
export interface OpenInvoiceInput {
  readonly mode: Mode
  readonly createdAt: Ms
  /** End of the invoice's life; replaced by the quote's end when `endsWithQuote` and a payment method is given. */
  readonly expiresAt: Ms
  readonly endsWithQuote: boolean
  /** Null when the payer picks the asset later. */
  readonly paymentMethod: PaymentMethod | null
  /** The operator who created it; absent for API calls. */
  readonly attribution?: Attribution
  /** What a link's visitor takes from budgets. */
  readonly visit?: Visit
}

/**
 * The first state of an invoice, version 1, with the events to save with it: `new` with `invoice.created`,
 * or `pending` with `invoice.created` and `invoice.pending` when an asset is fixed at once.
 */
export function openInvoice(input: OpenInvoiceInput): { state: InvoiceState; effects: readonly Effect[] } {
  const { mode, createdAt, endsWithQuote, paymentMethod } = input
  const created: Effect = { kind: 'event', type: 'invoice.created', payment: null }
  const pending: Effect = { kind: 'event', type: 'invoice.pending', payment: null }
  const effects = [
    created,
    ...(paymentMethod === null ? [] : [pending]),
    ...(input.attribution === undefined ? [] : auditWrite('created', input.attribution)),
  ]
  const state: InvoiceState = {
    status: paymentMethod === null ? 'new' : 'pending',
    mode,
    createdAt,
    expiresAt: paymentMethod !== null && endsWithQuote ? latestQuote(paymentMethod).expiresAt : input.expiresAt,
    endsWithQuote,
    paidAt: null,
    updatedAt: createdAt,
    version: 1,
    eventSeq: effects.length,
    paymentMethods: paymentMethod === null ? [] : [paymentMethod],
    ledger: [],
    others: null,
    exceptions: [],
    paidLate: false,
    underpaidAccepted: false,
    partialAnnouncedBase: 0n,
    confirmingSince: null,
    nextActionAt: null,
    ...(input.visit !== undefined && { visit: input.visit }),
  }
  return { state: { ...state, nextActionAt: nextActionAt(state) }, effects }
}
