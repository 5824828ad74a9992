import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

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

/** Notes of operators on invoices. They change nothing else about an invoice and are in no response, event or export. */
export interface InvoiceNotes {
  /** Oldest first. */
  list(invoiceId: string): Promise<readonly InvoiceNote[]>
  /** Adds a note together with its audit row; false when the operation already added it, or there are `NOTES_MAX`. */
  add(
    scope: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
    note: InvoiceNote,
    audit: AuditRecord,
  ): Promise<boolean>
}
