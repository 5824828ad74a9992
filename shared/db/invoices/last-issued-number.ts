import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

const idOf = (workspaceId: string, mode: Mode): string => `invoice-numbers:${workspaceId}:${mode}`

/** The number above which a series continues although no invoice has it; 0 unless an installation was restored. */
export async function lastIssuedNumber(db: Database, workspaceId: string, mode: Mode): Promise<number> {
  const fact = await db.collection(INSTALLATION).findOne({ _id: idOf(workspaceId, mode) })
  return Number(fact?.value ?? 0)
}

/** Lets a series continue above `floor`, or above a higher one from before. */
export async function raiseLastIssuedNumber(
  db: Database,
  workspaceId: string,
  mode: Mode,
  floor: number,
): Promise<void> {
  const former = await lastIssuedNumber(db, workspaceId, mode)
  if (floor <= former) return
  const change = { $set: { value: String(floor), changedAt: new Date() } }
  await db.collection(INSTALLATION).updateOne({ _id: idOf(workspaceId, mode) }, change, { upsert: true })
}
