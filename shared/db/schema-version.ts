import type { Database } from './connect.ts'
import { INSTALLATION } from './installation-model.ts'

/** Name of the fact that holds the version. */
export const SCHEMA_FACT = 'schema-version'

/** The version of the data in a database: the number of the last migration that ran to its end, 0 where none ever did. */
export async function schemaVersion(db: Database): Promise<number> {
  const fact = await db.collection(INSTALLATION).findOne({ _id: SCHEMA_FACT })
  return Number(fact?.value ?? 0)
}
