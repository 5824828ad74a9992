import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** A stored answer of the interface that may name a customer: sealed for `scope`. */
export interface StoredAnswer {
  readonly scope: string
  readonly body: string
}

/** Takes a customer's name and e-mail address out of what is stored about an invoice. */
export interface CustomerEraser {
  /**
   * Empties both fields of the invoice and sets when copies are to be looked for again, together with the audit row; false when
   * there is nothing to erase.
   */
  eraseInvoice(
    scope: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
    sweepAt: Ms,
    audit: AuditRecord,
  ): Promise<boolean>
  /** Empties the customer in the bodies of the invoice's events that were made before a time. Repeating it changes nothing. */
  eraseEvents(invoiceId: string, madeBefore: Ms): Promise<void>
  /** Answers about this invoice that idempotency keys would repeat. */
  storedAnswers(scope: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly invoiceId: string
  }): Promise<readonly StoredAnswer[]>
  /** Puts another body in the place of one that is still the same. */
  replaceAnswer(answer: StoredAnswer, body: string): Promise<void>
  /** Invoices whose copies are to be looked for by now. */
  dueSweeps(until: Ms, limit: number): Promise<readonly string[]>
  /** Nothing is left to look for. */
  endSweep(invoiceId: string): Promise<void>
}
