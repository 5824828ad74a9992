import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** A stored API response that may contain a customer: sealed for `scope`. */
export interface StoredAnswer {
  readonly scope: string
  readonly body: string
}

/** Removes a customer's name and e-mail address from stored data about an invoice. */
export interface CustomerEraser {
  /**
   * Empties both fields of the invoice and the texts of its notes and of those on its exceptions, and sets when copies are to be searched again, together with the audit row; false when
   * there is nothing to erase.
   */
  eraseInvoice(
    scope: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
    sweepAt: Ms,
    audit: AuditRecord,
  ): Promise<boolean>
  /** Empties the customer in the bodies of the invoice's events that were made before a time. Repeating it changes nothing. */
  eraseEvents(invoiceId: string, madeBefore: Ms): Promise<void>
  /** Responses about this invoice that idempotency keys would repeat. */
  storedAnswers(scope: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly invoiceId: string
  }): Promise<readonly StoredAnswer[]>
  /** Replaces the body of a response that is unchanged. */
  replaceAnswer(answer: StoredAnswer, body: string): Promise<void>
  /** Invoices whose copies are due to be searched. */
  dueSweeps(until: Ms, limit: number): Promise<readonly string[]>
  /** Ends the search that was due at a time; one that a later request made due afterwards stays. */
  endSweep(invoiceId: string, until: Ms): Promise<void>
}
