import type { Database } from '#shared/db/connection/connect.ts'
import type { KeyCanary } from '#shared/ports/secrets.ts'
import { INSTALLATION } from './installation-model.ts'

/** Name of the fact that holds the canary. */
export const KEY_CANARY_FACT = 'key-canary'

/** The canary on MongoDB: a fact of the installation whose sealed part is rotated with the master key like all others. */
export function createKeyCanaryRepository(db: Database) {
  const facts = db.collection(INSTALLATION)
  return {
    /** Null before the first process stored it. */
    find: async (): Promise<KeyCanary | null> => {
      const fact = await facts.findOne({ _id: KEY_CANARY_FACT })
      return fact?.sealed === undefined ? null : { sealed: fact.sealed, pepperDigest: fact.value }
    },
    /** Stores it unless there is one. */
    insert: async ({ sealed, pepperDigest }: KeyCanary): Promise<void> => {
      const fact = { value: pepperDigest, sealed, changedAt: new Date() }
      await facts.updateOne({ _id: KEY_CANARY_FACT }, { $setOnInsert: fact }, { upsert: true })
    },
  }
}

/** The type of what {@link createKeyCanaryRepository} returns. */
export type KeyCanaryRepository = ReturnType<typeof createKeyCanaryRepository>
