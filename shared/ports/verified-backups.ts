import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** A back-up that was read to its end and found to be whole, and whose secrets can be opened. */
export interface VerifiedBackup {
  /** As named in the archive and by the row `backup.started`. */
  readonly backupId: string
  /** The moment whose state it holds. */
  readonly takenAt: Ms
  readonly verifiedAt: Ms
}

/** The newest verified back-up of an installation. */
export interface VerifiedBackups {
  /** The one with the newest moment; null before the first, and after a restore. */
  latest(): Promise<VerifiedBackup | null>
  /**
   * Records a verified back-up with its audit row, and keeps whichever has the newer moment. Throws, and stores nothing, when this
   * installation did not make the archive.
   */
  record(verified: VerifiedBackup, audit: AuditRecord): Promise<void>
}

/** Back-ups are made daily; without a verified one of this age or younger, an operator is alerted. */
export const BACKUP_AGE_MAX_MS = 36 * 3_600_000
