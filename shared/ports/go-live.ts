import type { Mode } from '#shared/domain/enumerations.ts'
import type { GoLiveStatement } from '#shared/domain/golive/go-live.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'

/** Whose statements. */
export interface GoLiveScope {
  readonly workspaceId: string
  readonly mode: Mode
}

/** What people stated or began before going live: the newest of each item. */
export interface GoLiveRepository {
  list(scope: GoLiveScope): Promise<readonly GoLiveStatement[]>
  /**
   * Stores a statement in place of the item's former one, with the audit row and its mails, all or none. False, and nothing stored, when a
   * row with this id is stored already.
   */
  record(scope: GoLiveScope, statement: GoLiveStatement, recorded: AuditWrite): Promise<boolean>
  /** When the newest back-up was made, from the audit log; null without one. */
  lastBackupAt(): Promise<Ms | null>
}
