import type mongoose from 'mongoose'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'

/** Smaller on disk than with the store's default compressor; existing collections keep theirs. */
const SMALLER = { storageEngine: { wiredTiger: { configString: 'block_compressor=zstd' } } }
const NAMESPACE_EXISTS = 48

/** Creates a collection as `migrate` and a restore do, compressed with zstd where the store permits it; no change when it exists. */
export async function createCollection(
  db: Database,
  { name, validator }: Pick<CollectionModel<mongoose.mongo.Document>, 'name' | 'validator'>,
): Promise<void> {
  const native = db.connection.getClient().db(db.name)
  const options = validator === undefined ? {} : { validator }
  // Hosted stores may refuse storage options: there the collection is created with their defaults.
  await native.createCollection(name, { ...SMALLER, ...options }).catch(async (error: unknown) => {
    if (isThere(error)) return
    await native.createCollection(name, options).catch((second: unknown) => {
      if (!isThere(second)) throw second
    })
  })
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === NAMESPACE_EXISTS
