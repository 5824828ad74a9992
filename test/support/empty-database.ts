import type { Database } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { MODELS } from '#shared/db/schema/models.ts'

/**
 * Leaves the collections and indexes that `migrate` creates, empty, and nothing else. Between tests use this and never
 * `dropDatabase`: mongod keeps each dropped table as an open file for five minutes, and 160 of them for every test end
 * in more open files than a process may have.
 */
export async function emptyDatabase(db: Database): Promise<void> {
  const ours = new Set(MODELS.map((model) => model.name))
  const found = await db.connection.listCollections()
  await Promise.all(
    found.map(({ name }) => {
      const collection = db.connection.collection(name)
      return ours.has(name) ? collection.deleteMany({}) : collection.drop()
    }),
  )
  await migrate(db)
}
