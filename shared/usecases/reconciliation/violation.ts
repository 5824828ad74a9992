/**
 * What the books of an invoice must show. `one_key`: an idempotency key made one invoice. `credited_once`: a transfer is
 * credited to one invoice, and once. `sums`: what was received is the sum of the live payments in base units. `status`: the status
 * is what the ledger asks for. `paid_in_full`: paid means confirmed deep enough, and enough. `events`: each change has its events,
 * numbered without a gap or a double.
 */
export const INVARIANTS = ['one_key', 'credited_once', 'sums', 'status', 'paid_in_full', 'events'] as const
export type Invariant = (typeof INVARIANTS)[number]

/** One thing that is wrong with an invoice. */
export interface Violation {
  readonly invariant: Invariant
  readonly invoiceId: string
  /** Transfer key of the payment that it is about; null when it is about the invoice as a whole. */
  readonly paymentKey: string | null
  /** What is wrong, for a person. */
  readonly words: string
}

/** What one judgement found, before it is known whose. */
export type Finding = Pick<Violation, 'invariant' | 'words'> & { readonly paymentKey?: string }
