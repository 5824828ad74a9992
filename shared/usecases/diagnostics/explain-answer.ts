import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Payment } from '#shared/ports/payments.ts'

/** Outcome of the question, as one code. */
export const VERDICTS = [
  'counted',
  'waiting',
  'wrong_network',
  'wrong_coin',
  'late',
  'unmatched',
  'lookalike',
  'not_yours',
  'token_contract',
  'failed',
  'gone',
  'not_mined',
  'not_scanned',
  'not_stored',
  'not_found',
  'not_counted',
  'invoice_paid',
  'invoice_unpaid',
] as const
export type Verdict = (typeof VERDICTS)[number]

/** One step of the reasoning. Times in texts are ISO 8601, UTC. */
export interface Check {
  /** Null where the step is only informational. */
  readonly ok: boolean | null
  readonly title: string
  readonly detail: string
}

/** The outcome in words. */
export type Ruling = Pick<Answer, 'verdict' | 'tone' | 'title' | 'sentence'>

/** Something that a person can do next. */
export interface NextStep {
  readonly kind: 'open_exception' | 'open_invoice' | 'attach' | 'wait' | 'return' | 'contact_operator'
  readonly title: string
  readonly detail: string
  /** Of the exception, invoice or payment it is about. */
  readonly id: string | null
}

/** The answer to a question about a transaction, an address or an invoice. */
export interface Answer {
  readonly verdict: Verdict
  readonly tone: 'good' | 'wait' | 'bad' | 'plain'
  readonly title: string
  readonly sentence: string
  readonly checks: readonly Check[]
  readonly next: readonly NextStep[]
  readonly transfer: Payment | null
  readonly invoiceId: string | null
  /** Networks that were searched. */
  readonly looked: readonly NetworkId[]
}
