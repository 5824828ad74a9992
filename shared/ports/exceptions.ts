import type { ExceptionRecord } from '#shared/db/exceptions/exception-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

export type { ExceptionRecord } from '#shared/db/exceptions/exception-model.ts'

/** One change of an exception in an invoice's outbox. */
export interface ExceptionChange {
  readonly record: ExceptionRecord
  /** Position of the entry in the invoice's outbox. */
  readonly seq: number
  readonly isOpen: boolean
  /** When the invoice wrote it. */
  readonly at: Ms
  /** True when the row must be created even if it was never stored as open: it was opened and closed in one read. */
  readonly creates: boolean
}

export interface ExceptionRepository {
  /**
   * Applies the invoices' changes of their exceptions. A row with a later entry of its invoice (a higher `seq`) or this very
   * one is unchanged, so that a suspended relay cannot undo another one's writes, and an exception closed by a person
   * stays closed when an entry is relayed twice.
   */
  applyChanges(changes: readonly ExceptionChange[]): Promise<void>
  /** Opens the exceptions or leaves them open; reopening a closed one clears closedAt. */
  open(records: readonly ExceptionRecord[]): Promise<void>
  /** Opens those that never existed or closed automatically (`closeGone`); one that a person closed stays closed. */
  openOnce(records: readonly ExceptionRecord[]): Promise<void>
  /**
   * Opens an exception about a lasting condition. An open one keeps its time and gets this text; a closed one, whoever closed it,
   * is reopened with this time and text.
   */
  report(record: ExceptionRecord): Promise<void>
  close(ids: readonly string[], at: Ms): Promise<void>
  /** Closes open exceptions about unmatched transfers under these keys, until they are seen again. */
  closeGone(paymentKeys: readonly string[], at: Ms): Promise<void>
  /** Transfer keys in open exceptions about unmatched transfers of a network, in order, starting after `after`. */
  unmatchedKeys(scope: {
    mode: Mode
    network: NetworkId
    after: string | null
    limit: number
  }): Promise<readonly string[]>
  findById(id: string): Promise<ExceptionRecord | null>
  /** All exceptions opened about one invoice, newest first. */
  listByInvoice(invoiceId: string): Promise<readonly ExceptionRecord[]>
  /** Closes an open entry together with its audit row; false when it is closed already, and while a decision that began after `staleBefore` holds it. */
  closeAudited(id: string, at: Ms, staleBefore: Ms, audit: AuditRecord): Promise<boolean>
  listOpen(workspaceId: string | null): Promise<readonly ExceptionRecord[]>
}
