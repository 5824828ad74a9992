import type { Database } from '#shared/db/connection/connect.ts'
import { MODELS } from './models.ts'

/** MongoDB: the user lacks the privilege. */
const UNAUTHORIZED = 13

/**
 * Lets the store refuse documents that the collections' fields do not describe, where its validator is another one or missing: after a
 * release that changed a field, and after a restore. Safe to repeat. Without the privilege `collMod` nothing changes, and `onProgress` gets a
 * line: the product writes only what the types of the same fields permit.
 */
export async function setValidators(db: Database, onProgress: (line: string) => void): Promise<void> {
  const native = db.connection.getClient().db(db.name)
  const found = await native.listCollections({}).toArray()
  const stored = new Map(
    found.map((one) => [one.name, (one as { options?: { validator?: object } }).options?.validator]),
  )
  for (const { name, validator } of MODELS) {
    if (validator === undefined) continue
    if (JSON.stringify(stored.get(name)) === JSON.stringify(validator)) continue
    try {
      await native.command({ collMod: name, validator, validationLevel: 'strict', validationAction: 'error' })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === UNAUTHORIZED)) throw error
      onProgress(`${name}: the store does not let this user set a validator (collMod: ${error.message})`)
    }
  }
}
