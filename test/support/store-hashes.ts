import type { Database } from '#shared/db/connection/connect.ts'

/** A hash of the documents of each collection, by the collection's name in alphabetical order; the store computes them in one command. */
export async function hashesOf(db: Database): Promise<ReadonlyMap<string, string>> {
  const { collections } = (await db.connection.getClient().db(db.name).command({ dbHash: 1 })) as {
    readonly collections: Readonly<Record<string, string>>
  }
  return new Map(Object.entries(collections).sort(([one], [other]) => (one < other ? -1 : 1)))
}
