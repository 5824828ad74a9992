import type { ExceptionKind, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

export interface ExceptionRecord {
  /** Deterministic: `<kind>:<subject>`. */
  readonly id: string
  readonly kind: ExceptionKind
  readonly workspaceId: string | null
  readonly mode: Mode | null
  readonly invoiceId: string | null
  readonly paymentKey: string | null
  readonly detail: string
  readonly openedAt: Ms
  readonly closedAt: Ms | null
}

/** What an invoice's outbox says about one inbox row. */
export interface ExceptionChange {
  readonly record: ExceptionRecord
  /** Position of the entry in the invoice's outbox. */
  readonly seq: number
  readonly isOpen: boolean
  /** When the invoice said so. */
  readonly at: Ms
  /** True when the row is to exist even if nobody stored it as open before: it was opened and closed in one read. */
  readonly creates: boolean
}

export interface ExceptionRepository {
  /**
   * Applies what invoices say about their rows. A row that shows a later entry of its invoice (a higher `seq`) or this very
   * one stays as it is, so that a relay that was frozen cannot undo what another one wrote meanwhile, and what a person closed
   * stays closed when an entry is relayed twice.
   */
  applyChanges(changes: readonly ExceptionChange[]): Promise<void>
  /** Opens or leaves open; reopening a closed one clears closedAt. */
  open(records: readonly ExceptionRecord[]): Promise<void>
  /** Opens what never was there or closed by itself (`closeGone`); what a person closed stays closed. */
  openOnce(records: readonly ExceptionRecord[]): Promise<void>
  /**
   * Opens an entry about a lasting condition. One that is open keeps its time and gets this text; one that was closed, by anybody,
   * opens again with this time and text.
   */
  report(record: ExceptionRecord): Promise<void>
  close(ids: readonly string[], at: Ms): Promise<void>
  /** Closes what is open about stray transfers under these keys, until they are seen again. */
  closeGone(paymentKeys: readonly string[], at: Ms): Promise<void>
  /** Transfer keys that open entries about stray transfers of a network name, in order, beginning behind `after`. */
  strayKeys(scope: { mode: Mode; network: NetworkId; after: string | null; limit: number }): Promise<readonly string[]>
  findById(id: string): Promise<ExceptionRecord | null>
  /** All that were opened about one invoice, newest first. */
  listByInvoice(invoiceId: string): Promise<readonly ExceptionRecord[]>
  /** Closes an open entry together with its audit row; false when it is closed already. */
  closeAudited(id: string, at: Ms, audit: AuditRecord): Promise<boolean>
  listOpen(workspaceId: string | null): Promise<readonly ExceptionRecord[]>
}
