import { z } from 'zod'
import { AUDIT_LOG, type AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
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
const factSchema = z.object({
  backupId: z.string(),
  takenAt: z.number().int(),
  verifiedAt: z.number().int(),
  chain: z.string().nullable(),
})
const changesSchema = z.object({ chain: z.string(), takenAt: z.number().int() })

/** Verified back-ups and attempts on MongoDB: one fact of the installation each. */
export function createVerifiedBackups(db: Database) {
  const latest = async (): Promise<VerifiedBackup | null> => {
    const fact = await db.collection(INSTALLATION).findOne({ _id: VERIFIED_BACKUP_FACT })
    return fact === null ? null : factSchema.parse(JSON.parse(fact.value))
  }
  return {
    /** The one with the newest moment; null before the first, and after a restore. */
    latest,
    /** Null before the first, and after a restore. */
    lastAttempt: async (): Promise<BackupAttempt | null> => {
      const fact = await db.collection(INSTALLATION).findOne({ _id: BACKUP_ATTEMPT_FACT })
      return fact === null ? null : attemptSchema.parse(JSON.parse(fact.value))
    },
    recordAttempt: async (attempt: BackupAttempt): Promise<void> => {
      const change = { $set: { value: JSON.stringify(attempt) }, $currentDate: { changedAt: true as const } }
      await db.collection(INSTALLATION).updateOne({ _id: BACKUP_ATTEMPT_FACT }, change, { upsert: true })
    },
    /** The newest changes; null before the first, and after a restore. */
    latestChanges: async (): Promise<RecordedChanges | null> => {
      const fact = await db.collection(INSTALLATION).findOne({ _id: CHANGES_FACT })
      return fact === null ? null : changesSchema.parse(JSON.parse(fact.value))
    },
    recordChanges: async (changes: RecordedChanges): Promise<void> => {
      const change = { $set: { value: JSON.stringify(changes) }, $currentDate: { changedAt: true as const } }
      await db.collection(INSTALLATION).updateOne({ _id: CHANGES_FACT }, change, { upsert: true })
    },
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
      await audited(db, audit, async (session) => {
        const facts = db.collection(INSTALLATION)
        const stored = await facts.findOne({ _id: VERIFIED_BACKUP_FACT }, { session })
        const held = stored === null ? null : factSchema.parse(JSON.parse(stored.value))
        const isNewer = held !== null && held.takenAt > verified.takenAt && held.takenAt <= latestAt
        const value = JSON.stringify(isNewer ? held : verified)
        const change = { $set: { value, changedAt: new Date(verified.verifiedAt) } }
        await facts.updateOne({ _id: VERIFIED_BACKUP_FACT }, change, { upsert: true, session })
        return true
      })
    },
  }
}
