import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'

/** Name of the fact that holds a copy of the marks, so that every archive has one. */
export const MARKS_FACT = 'marks'

/** Stores the signed texts of the marks of one life, by field, among the installation's facts; they replace the former copy. */
export async function storeMarksCopy(
  db: Database,
  life: string,
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  const change = { $set: { value: JSON.stringify({ [life]: texts }), changedAt: new Date() } }
  await db.collection(INSTALLATION).updateOne({ _id: MARKS_FACT }, change, { upsert: true })
}
