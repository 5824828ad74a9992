import { z } from 'zod'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { VerifiedBackups } from '#shared/ports/verified-backups.ts'

/** Name of the fact that a back-up was verified. */
export const VERIFIED_BACKUP_FACT = 'verified_backup'

const factSchema = z.object({ backupId: z.string(), takenAt: z.number().int(), verifiedAt: z.number().int() })

/** Verified back-ups on MongoDB: one fact of the installation. */
export function createVerifiedBackups(db: Database): VerifiedBackups {
  const latest: VerifiedBackups['latest'] = async () => {
    const fact = await db.collection(INSTALLATION).findOne({ _id: VERIFIED_BACKUP_FACT })
    return fact === null ? null : factSchema.parse(JSON.parse(fact.value))
  }
  return {
    latest,
    record: async (verified, audit) => {
      const started = await db.collection(AUDIT_LOG).findOne({ _id: `backup.started:${verified.backupId}` })
      if (started === null)
        throw new Error('this installation did not make the archive: its audit log does not name it')
      await audited(db, audit, async (session) => {
        const facts = db.collection(INSTALLATION)
        const stored = await facts.findOne({ _id: VERIFIED_BACKUP_FACT }, { session })
        const held = stored === null ? null : factSchema.parse(JSON.parse(stored.value))
        const value = JSON.stringify(held !== null && held.takenAt > verified.takenAt ? held : verified)
        const change = { $set: { value, changedAt: new Date(verified.verifiedAt) } }
        await facts.updateOne({ _id: VERIFIED_BACKUP_FACT }, change, { upsert: true, session })
        return true
      })
    },
  }
}
