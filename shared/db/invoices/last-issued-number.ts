import type { Database } from '#shared/db/connection/connect.ts'
import { readFact, writeFact } from '#shared/db/installation/facts.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

const idOf = (workspaceId: string, mode: Mode): string => `invoice-numbers:${workspaceId}:${mode}`

/** The number above which a series continues although no invoice has it; 0 unless an installation was restored. */
export async function lastIssuedNumber(db: Database, workspaceId: string, mode: Mode): Promise<number> {
  return Number((await readFact(db, idOf(workspaceId, mode))) ?? 0)
}

/** Lets a series continue above `floor`, or above a higher one from before. */
export async function raiseLastIssuedNumber(
  db: Database,
  workspaceId: string,
  mode: Mode,
  floor: number,
): Promise<void> {
  const former = await lastIssuedNumber(db, workspaceId, mode)
  if (floor > former) await writeFact(db, idOf(workspaceId, mode), String(floor))
}
