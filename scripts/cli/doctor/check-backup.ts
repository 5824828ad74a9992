import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import {
  BACKUP_AGE_MAX_MS,
  BACKUP_AHEAD_MAX_MS,
  type BackupAttempt,
  backupAge,
  CHANGES_AGE_MAX_MS,
  copiesTrouble,
  type RecordedChanges,
  type VerifiedBackup,
} from '#shared/ports/verified-backups.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { BACKUP_LEASE } from '../../backup/backup-lease.ts'
import type { Installation } from '../session/installation.ts'

const HOUR_MS = 3_600_000
const REMEDY = 'schedule `paymesh backup run`, see deploy/README.md'

/** What `checkBackup` reads of an installation. */
export type BackupCheckDeps = Pick<Installation, 'db'> &
  Uses<'clock'> & {
    readonly config: Pick<Installation['config'], 'env'>
  }

/**
 * In production a verified back-up of the last day and a half, and no failure since; elsewhere the absence of both is a remark. A failure is a fault
 * while older archives are still recent enough: the alert about their age would come a day later.
 */
export async function checkBackup({ db, clock, config }: BackupCheckDeps): Promise<string> {
  const backups = createVerifiedBackups(db)
  const [verified, attempt, changes, leases] = await Promise.all([
    backups.latest(),
    backups.lastAttempt(),
    backups.latestChanges(),
    createInstanceReads(db).leases(),
  ])
  const now = clock.now()
  const isRunning = leases.some(({ id, until }) => id === BACKUP_LEASE && until > now)
  const copied = copiedText(changes, verified, now)
  const copies = copiesTrouble(changes, now)
  const elsewhere = copies === '' ? '' : `; the back-ups are not copied elsewhere: ${copies}`
  const trouble = `${troubleOf(attempt, verified, isRunning)}${copied.isFault ? copied.text : ''}${elsewhere}`
  const isProduction = config.env === 'production'
  if (verified === null) {
    if (isProduction) throw new Error(`no back-up was verified yet${trouble}; ${REMEDY}`)
    return `no back-up was verified yet${trouble}; in production ${REMEDY}`
  }
  const text = `the newest verified back-up is of ${new Date(verified.takenAt).toISOString()}`
  if (verified.takenAt > now + BACKUP_AHEAD_MAX_MS)
    throw new Error(`${text}, a later time than now: a clock is or was wrong; make a new back-up${trouble}`)
  const ageMs = backupAge(verified, now)
  if (ageMs > BACKUP_AGE_MAX_MS)
    throw new Error(`${text}, ${Math.floor(ageMs / HOUR_MS)} hours ago${trouble}; ${REMEDY}`)
  if (trouble !== '' && isProduction) throw new Error(`${text}${trouble}`)
  return `${text}${copied.isFault ? trouble : `${trouble}${copied.text}`}`
}

/** How new the changes between archives are. Where they never were copied that is a remark. */
function copiedText(changes: RecordedChanges | null, verified: VerifiedBackup | null, now: number) {
  if (changes === null)
    return {
      isFault: false,
      text: '; what happened since is in no back-up: `backup run --every 24` copies it twice a minute',
    }
  const age = backupAge(changes, now)
  const at = new Date(changes.takenAt).toISOString()
  if (age > CHANGES_AGE_MAX_MS)
    return { isFault: true, text: `; no changes were copied since ${at}: is \`paymesh backup run --every\` running?` }
  if (verified !== null && verified.chain !== changes.chain)
    return { isFault: true, text: `; the changes of ${at} follow no verified archive yet: the next one is due at once` }
  return { isFault: false, text: `, and changes up to ${at} were copied` }
}

/** What became of an attempt after the newest verified back-up; empty without one, and while it runs. */
function troubleOf(attempt: BackupAttempt | null, verified: VerifiedBackup | null, isRunning: boolean): string {
  if (attempt === null || (verified !== null && verified.takenAt >= attempt.startedAt)) return ''
  const at = new Date(attempt.startedAt).toISOString()
  if (attempt.failure !== null) return `; the attempt of ${at} failed: ${attempt.failure}`
  return isRunning ? '' : `; the attempt of ${at} was ended before its archive was verified`
}
