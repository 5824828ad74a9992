import type { Explanation } from '#shared/contracts/explanations.ts'
import type { Payment } from '#shared/ports/payments.ts'

/** The outcome in words. */
export type Ruling = Pick<Explanation, 'verdict' | 'tone' | 'title' | 'sentence'>

/** The answer to a question about a transaction, an address or an invoice. */
export interface Answer extends Explanation {
  readonly transfer: Payment | null
  readonly invoiceId: string | null
}
