import type { Database } from '#shared/db/connection/connect.ts'
import type { KeyCanaryRepository } from '#shared/ports/secrets.ts'
import { INSTALLATION } from './installation-model.ts'

/** Name of the fact that holds the canary. */
export const KEY_CANARY_FACT = 'key-canary'

/** The canary on MongoDB: a fact of the installation whose sealed part is rotated with the master key like all others. */
export function createKeyCanaryRepository(db: Database): KeyCanaryRepository {
  const facts = db.collection(INSTALLATION)
  return {
    find: async () => {
      const fact = await facts.findOne({ _id: KEY_CANARY_FACT })
      return fact?.sealed === undefined ? null : { sealed: fact.sealed, pepperDigest: fact.value }
    },
    insert: async ({ sealed, pepperDigest }) => {
      const fact = { value: pepperDigest, sealed, changedAt: new Date() }
      await facts.updateOne({ _id: KEY_CANARY_FACT }, { $setOnInsert: fact }, { upsert: true })
    },
  }
}
