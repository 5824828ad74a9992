import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { MailRecord } from './mails.ts'

export type { AuditRecord } from '#shared/db/audit/audit-model.ts'

/** The audit log. Actions on documents without an outbox write their row in the same transaction as the action. */
export interface AuditRepository {
  /** Adds what is missing. */
  insertMany(records: readonly AuditRecord[]): Promise<void>
  /** Whether an action with this id about this subject is recorded. */
  isRecorded(id: string, subject: string): Promise<boolean>
  /** The newest row about a subject, of one action if given; null without one. */
  newestOf(subject: string, action?: AuditAction): Promise<AuditRecord | null>
  /** The newest 1,000 rows about one subject, oldest first. */
  listBySubject(subject: string): Promise<readonly AuditRecord[]>
}

/** Filter of rows. All fields must match. */
export interface AuditFilter {
  /** Null = of the whole installation. */
  readonly workspaceId: string | null
  readonly subject?: string | undefined
  readonly actor?: string | undefined
  readonly from?: Ms | undefined
  /** Not included. */
  readonly until?: Ms | undefined
}

/** Reading the audit log, newest first. */
export interface AuditSearch {
  /** Rows after `after`; at most `limit`. `seq` is null while a row is not chained. */
  search(
    filter: AuditFilter,
    after: { readonly at: Ms; readonly id: string } | null,
    limit: number,
  ): Promise<readonly (AuditRecord & { readonly seq: number | null })[]>
}

/** Stored together with an action, or not at all. */
export interface AuditWrite {
  readonly audit: AuditRecord
  readonly mails?: readonly MailRecord[]
}
