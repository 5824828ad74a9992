/**
 * Invariants of an invoice's records. `one_key`: an idempotency key created one invoice. `credited_once`: a transfer is
 * credited to one invoice, and once. `sums`: the amount received is the sum of the live payments in base units. `status`: the status
 * follows from the ledger. `paid_in_full`: paid means confirmed deep enough, and enough. `events`: each change has its events,
 * numbered without a gap or a duplicate.
 */
export const INVARIANTS = ['one_key', 'credited_once', 'sums', 'status', 'paid_in_full', 'events'] as const
export type Invariant = (typeof INVARIANTS)[number]

/** One thing that is wrong with an invoice. */
export interface Violation {
  readonly invariant: Invariant
  readonly invoiceId: string
  /** Transfer key of the affected payment; null when it concerns the invoice as a whole. */
  readonly paymentKey: string | null
  /** Description for a person. */
  readonly words: string
}

/** Result of one check, without the invoice. */
export type Finding = Pick<Violation, 'invariant' | 'words'> & { readonly paymentKey?: string }
