import type { Database } from '#shared/db/connection/connect.ts'
import { writeFact } from '#shared/db/installation/facts.ts'

/** Name of the fact that holds a copy of the marks, so that every archive has one. */
export const MARKS_FACT = 'marks'

/** Stores the signed texts of the marks of one life, by field, among the installation's facts; they replace the former copy. */
export async function storeMarksCopy(
  db: Database,
  life: string,
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  await writeFact(db, MARKS_FACT, JSON.stringify({ [life]: texts }))
}
