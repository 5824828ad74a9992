import type { Mode } from '../enumerations.ts'
import type { AssetLock, Effect, InvoiceState, Ms, Word } from './model.ts'
import { nextActionAt } from './next-action.ts'
import { noted } from './noted.ts'
import { latestQuote } from './quote-window.ts'

/** What decides the first state of an invoice. */
export interface OpenInvoiceInput {
  readonly mode: Mode
  readonly createdAt: Ms
  /** End of the invoice's life; replaced by the quote's end when `endsWithQuote` and a lock is given. */
  readonly expiresAt: Ms
  readonly endsWithQuote: boolean
  /** Null when the payer picks the asset later. */
  readonly lock: AssetLock | null
  /** The person who made it by hand; absent for what programs ask for. */
  readonly word?: Word
}

/**
 * The first state of an invoice, version 1, with the events to save beside it: `new` with `invoice.created`,
 * or `pending` with `invoice.created` and `invoice.pending` when an asset is locked at once.
 */
export function openInvoice(input: OpenInvoiceInput): { state: InvoiceState; effects: readonly Effect[] } {
  const { mode, createdAt, endsWithQuote, lock } = input
  const created: Effect = { kind: 'event', type: 'invoice.created', payment: null }
  const pending: Effect = { kind: 'event', type: 'invoice.pending', payment: null }
  const effects = [created, ...(lock === null ? [] : [pending]), ...noted('created', input.word ?? {})]
  const state: InvoiceState = {
    status: lock === null ? 'new' : 'pending',
    mode,
    createdAt,
    expiresAt: lock !== null && endsWithQuote ? latestQuote(lock).expiresAt : input.expiresAt,
    endsWithQuote,
    paidAt: null,
    updatedAt: createdAt,
    version: 1,
    eventSeq: effects.length,
    locks: lock === null ? [] : [lock],
    ledger: [],
    others: null,
    exceptions: [],
    paidLate: false,
    underpaidAccepted: false,
    partialAnnouncedBase: 0n,
    confirmingSince: null,
    nextActionAt: null,
  }
  return { state: { ...state, nextActionAt: nextActionAt(state) }, effects }
}
