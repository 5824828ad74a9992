import type { Ms } from '#shared/domain/invoice/model.ts'

/** A back-up that was read to its end and found to be whole, and whose secrets can be opened. */
export interface VerifiedBackup {
  /** As named in the archive and by the row `backup.started`. */
  readonly backupId: string
  /** The moment whose state it holds. */
  readonly takenAt: Ms
  readonly verifiedAt: Ms
  /** The chain of changes that continues it; null without one. */
  readonly chain: string | null
}

/** The newest file of changes, which continues every archive of its chain. */
export interface RecordedChanges {
  readonly chain: string
  /** The moment whose state it leads to. */
  readonly takenAt: Ms
}

/** The last scheduled back-up that was begun. It is over when a back-up of a later moment was verified. */
export interface BackupAttempt {
  /** Name of its archive. */
  readonly name: string
  readonly startedAt: Ms
  /** Why it failed, for an operator; null while it runs, and after the process was killed. */
  readonly failure: string | null
}

/** Clocks of an installation's machines differ by less. A back-up of a later time was made while a clock was wrong. */
export const BACKUP_AHEAD_MAX_MS = 300_000

/** Age of a verified back-up; infinite without one, and for one of a later time, so that a clock that was wrong once silences no alert. */
export function backupAge(verified: Pick<VerifiedBackup, 'takenAt'> | null, now: Ms): Ms {
  if (verified === null || verified.takenAt > now + BACKUP_AHEAD_MAX_MS) return Number.POSITIVE_INFINITY
  return Math.max(0, now - verified.takenAt)
}

/** Back-ups are made daily; without a verified one of this age or younger, an operator is alerted. */
export const BACKUP_AGE_MAX_MS = 36 * 3_600_000

/** Changes are copied twice a minute; without any of this age or younger, an operator is alerted. */
export const CHANGES_AGE_MAX_MS = 5 * 60_000
