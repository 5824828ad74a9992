import type { Mode } from '#shared/domain/enumerations.ts'
import type { GoLiveResult } from '#shared/domain/golive/go-live.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'

/** Whose results. */
export interface GoLiveScope {
  readonly workspaceId: string
  readonly mode: Mode
}

/** Results of the checks before going live, one for each item. */
export interface GoLiveRepository {
  list(scope: GoLiveScope): Promise<readonly GoLiveResult[]>
  /**
   * Stores results with the audit row and its mails, all or none; a later result of an item is never replaced by an earlier one.
   * False, and nothing stored, when a row with this id is stored already.
   */
  record(scope: GoLiveScope, results: readonly GoLiveResult[], recorded: AuditWrite): Promise<boolean>
  /** When the newest back-up was made, from the audit log; null without one. */
  lastBackupAt(): Promise<Ms | null>
}
