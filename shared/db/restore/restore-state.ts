import { z } from 'zod'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'

/** Name of the fact that a database was restored from an archive. */
export const RESTORE_FACT = 'restore'

const stateSchema = z.object({
  /** `writing`: the restore is incomplete. `held`: nothing may be sent from the installation. */
  state: z.enum(['writing', 'held', 'confirmed']),
  takenAt: z.string(),
  restoredAt: z.string(),
  /** Unused addresses and numbers that were skipped. */
  skip: z.number().int(),
})

/** State of the restore that created this database. */
export type RestoreState = z.output<typeof stateSchema>

/** The restore that created this database; null without one. */
export async function readRestoreState(db: Database): Promise<RestoreState | null> {
  const fact = await db.collection(INSTALLATION).findOne({ _id: RESTORE_FACT })
  return fact === null ? null : stateSchema.parse(JSON.parse(fact.value))
}

/** Records a step of a restore; together with the audit row if one is given. */
export async function writeRestoreState(db: Database, state: RestoreState, audit?: AuditRecord): Promise<void> {
  const change = { $set: { value: JSON.stringify(state), changedAt: new Date() } }
  const facts = db.collection(INSTALLATION)
  if (audit === undefined) await facts.updateOne({ _id: RESTORE_FACT }, change, { upsert: true })
  else {
    await audited(db, audit, async (session) => {
      await facts.updateOne({ _id: RESTORE_FACT }, change, { upsert: true, session })
      return true
    })
  }
}
