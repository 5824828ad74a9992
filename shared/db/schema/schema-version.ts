import type { Database } from '#shared/db/connection/connect.ts'
import { readFact } from '#shared/db/installation/facts.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'

/** Name of the fact that holds the version. */
export const SCHEMA_FACT = 'schema-version'
/** Name of the fact that holds the oldest version whose code may work on the data. */
export const READABLE_FACT = 'schema-readable-by'

/** The data version of a database: the number of the last completed migration, 0 without one. */
export async function schemaVersion(db: Database): Promise<number> {
  return (await recorded(db, SCHEMA_FACT)) ?? 0
}

/** Records that only code of at least this data version may work on the database. What is recorded never becomes less. */
export async function raiseReadable(db: Database, version: number): Promise<void> {
  const facts = db.collection(INSTALLATION)
  for (;;) {
    const stored = await facts.findOne({ _id: READABLE_FACT })
    if (stored !== null && Number(stored.value) >= version) return
    const change = { value: String(version), changedAt: new Date() }
    if (stored === null) {
      await facts.updateOne({ _id: READABLE_FACT }, { $setOnInsert: change }, { upsert: true })
    } else {
      await facts.updateOne({ _id: READABLE_FACT, value: stored.value }, { $set: change })
    }
  }
}

/** Throws, with the remedy, unless `migrate` recorded a version and code of version `newest` may work on the data. */
export async function verifySchemaVersion(db: Database, newest: number): Promise<void> {
  const [version, readable] = await Promise.all([recorded(db, SCHEMA_FACT), recorded(db, READABLE_FACT)])
  if (version === null || version < newest) {
    throw new Error(
      `database ${db.name} has schema ${version ?? 'none'}, this version needs ${newest}: run paymesh migrate`,
    )
  }
  if ((readable ?? 0) <= newest) return
  throw new Error(
    `database ${db.name} has schema ${version}, which this version cannot work on (it supports ${newest}): start the version that migrated it, or restore an earlier back-up into another database`,
  )
}

async function recorded(db: Database, fact: string): Promise<number | null> {
  const value = await readFact(db, fact)
  return value === null ? null : Number(value)
}
