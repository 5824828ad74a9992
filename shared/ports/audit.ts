import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { AuditRecord } from '#shared/db/audit/audit-model.ts'

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

/** Stored together with an action, or not at all. */
export interface AuditWrite {
  readonly audit: AuditRecord
  readonly mails?: readonly MailRecord[]
}
