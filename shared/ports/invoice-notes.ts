import type { Ms } from '#shared/domain/invoice/model.ts'

/** An operator's note on an invoice. */
export interface InvoiceNote {
  /** The operation that added it. */
  readonly opId: string
  /** `user:<e-mail>`. */
  readonly by: string
  readonly at: Ms
  /** Null once it was erased together with the customer. */
  readonly text: string | null
}

/** Notes that one invoice holds at most. */
export const NOTES_MAX = 50
