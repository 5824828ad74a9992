import type { TestStores } from './stores.ts'

/** The store's own time in Unix milliseconds, which `$$NOW` in its updates follows; the clock of the product's processes estimates it. */
export async function storeTime(stores: TestStores): Promise<number> {
  const { localTime } = await stores.db.connection.getClient().db(stores.db.name).command({ hello: 1 })
  return localTime.getTime()
}
