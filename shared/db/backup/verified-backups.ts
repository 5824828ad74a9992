import { z } from 'zod'
import { AUDIT_LOG, type AuditRecord } from '#shared/db/audit/audit-model.ts'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { jsonFact } from '#shared/db/installation/facts.ts'
import {
  BACKUP_AHEAD_MAX_MS,
  type BackupAttempt,
  type RecordedChanges,
  type VerifiedBackup,
} from '#shared/ports/verified-backups.ts'

/** Name of the fact that a back-up was verified. */
export const VERIFIED_BACKUP_FACT = 'verified_backup'

/** Action of the audit rows that name an archive, and the beginning of their ids. */
const BACKUP_STARTED = 'backup.started'
/** A year of a back-up each hour. Older archives are removed by hand. */
const BEGUN_MAX = 10_000

/** Name of the fact that a scheduled back-up was begun. */
export const BACKUP_ATTEMPT_FACT = 'backup_attempt'

/** Name of the fact that changes were copied. */
export const CHANGES_FACT = 'backup_changes'

const attemptSchema = z.object({ name: z.string(), startedAt: z.number().int(), failure: z.string().nullable() })
const ATTEMPT = jsonFact(BACKUP_ATTEMPT_FACT, attemptSchema)
const factSchema = z.object({
  backupId: z.string(),
  takenAt: z.number().int(),
  verifiedAt: z.number().int(),
  chain: z.string().nullable(),
})
const VERIFIED = jsonFact(VERIFIED_BACKUP_FACT, factSchema)
const copiedSchema = z.object({ archives: z.number().int(), changes: z.number().int() })
const changesSchema = z.object({ chain: z.string(), takenAt: z.number().int(), copied: copiedSchema.nullable() })
const CHANGES = jsonFact(CHANGES_FACT, changesSchema)

/** Verified back-ups and attempts on MongoDB: one fact of the installation each. */
export function createVerifiedBackups(db: Database) {
  return {
    /** The one with the newest moment; null before the first, and after a restore. */
    latest: (): Promise<VerifiedBackup | null> => VERIFIED.read(db),
    /** Null before the first, and after a restore. */
    lastAttempt: (): Promise<BackupAttempt | null> => ATTEMPT.read(db),
    recordAttempt: (attempt: BackupAttempt): Promise<void> => ATTEMPT.write(db, attempt),
    /** The newest changes; null before the first, and after a restore. */
    latestChanges: (): Promise<RecordedChanges | null> => CHANGES.read(db),
    recordChanges: (changes: RecordedChanges): Promise<void> => CHANGES.write(db, changes),
    /** Names of the newest 10,000 archives that this installation began, by its audit log: others in the same folder are another installation's. */
    begunArchives: async (): Promise<ReadonlySet<string>> => {
      // A range of the primary key: `;` follows `:`. Back-ups that a person made have rows too, under the names of their files.
      const begun = { _id: { $gte: `${BACKUP_STARTED}:`, $lt: `${BACKUP_STARTED};` } }
      const rows = await db
        .collection(AUDIT_LOG)
        .find(begun, { projection: { 'detail.file': 1 } })
        .sort({ _id: -1 })
        .limit(BEGUN_MAX)
        .toArray()
      return new Set(rows.flatMap(({ detail }) => (typeof detail['file'] === 'string' ? [detail['file']] : [])))
    },
    /**
     * Records a verified back-up with its audit row, and keeps whichever has the newer moment; one of a later time than now is replaced. Throws, and
     * stores nothing, when this installation did not make the archive, or when it is of a later time than now.
     */
    record: async (verified: VerifiedBackup, audit: AuditRecord): Promise<void> => {
      const latestAt = verified.verifiedAt + BACKUP_AHEAD_MAX_MS
      if (verified.takenAt > latestAt)
        throw new Error(
          `the archive is of ${new Date(verified.takenAt).toISOString()}, a later time than the store's: a clock is or was wrong`,
        )
      const started = await db.collection(AUDIT_LOG).findOne({ _id: `${BACKUP_STARTED}:${verified.backupId}` })
      if (started === null)
        throw new Error('this installation did not make the archive: its audit log does not name it')
      await insertAudited(db, audit, async (within) => {
        const held = await VERIFIED.read(db, within)
        const isNewer = held !== null && held.takenAt > verified.takenAt && held.takenAt <= latestAt
        await VERIFIED.write(db, isNewer ? held : verified, within)
      })
    },
  }
}
