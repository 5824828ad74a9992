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
  /** Null where nobody is expected to copy archives and changes to another place. */
  readonly copied: CopiedBackups | null
}

/** When the last copy to another place (a bucket) that succeeded began, by the clock of who copies; 0 before the first. */
export interface CopiedBackups {
  readonly archives: Ms
  readonly changes: Ms
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

/**
 * Age of a verified back-up, or of its last copy in another place where that is older; infinite without one, and for one of a later time, so that a clock
 * that was wrong once silences no alert.
 */
export function backupAge(verified: Pick<VerifiedBackup, 'takenAt'> | null, now: Ms, copiedAt?: Ms): Ms {
  if (verified === null) return Number.POSITIVE_INFINITY
  const times = copiedAt === undefined ? [verified.takenAt] : [verified.takenAt, copiedAt]
  if (times.some((at) => at === 0 || at > now + BACKUP_AHEAD_MAX_MS)) return Number.POSITIVE_INFINITY
  return Math.max(0, now - Math.min(...times))
}

/** Back-ups are made daily; without a verified one of this age or younger, an operator is alerted. */
export const BACKUP_AGE_MAX_MS = 36 * 3_600_000

/** Changes are copied twice a minute; without any of this age or younger, an operator is alerted. */
export const CHANGES_AGE_MAX_MS = 5 * 60_000

/** When which copies in another place were made last, if they are too old, for an operator; empty while none is, and where nobody is expected to make any. */
export function copiesTrouble(changes: RecordedChanges | null, now: Ms): string {
  if (changes === null || changes.copied === null) return ''
  // At the time of the newest changes, when the copies were last read. Changes that are too old are reported apart.
  const at = Math.min(now, changes.takenAt)
  const { archives, changes: ofChanges } = changes.copied
  const old = [
    ...(backupAge({ takenAt: at }, at, archives) > BACKUP_AGE_MAX_MS ? [`archives ${lastText(archives)}`] : []),
    ...(backupAge({ takenAt: at }, at, ofChanges) > CHANGES_AGE_MAX_MS ? [`changes ${lastText(ofChanges)}`] : []),
  ]
  if (old.length === 0) return ''
  return `${old.join(', ')}; read the log of what makes them (Compose: backup-upload, Kubernetes: the container upload)`
}

const lastText = (at: Ms): string => (at === 0 ? 'never' : `last at ${new Date(at).toISOString()}`)
