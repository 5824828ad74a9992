import { createHash } from 'node:crypto'
import type { TestStores } from './stores.ts'

/** What a request leaves behind whatever it asks for, and what is no part of any tenant's or operator's data. */
const NOT_STATE = ['operations', 'leases', 'processes', 'login_attempts', 'system.views']

/** What is stored now: one line for each collection, with its size and a hash of its documents. */
export async function digestOf(stores: TestStores): Promise<readonly string[]> {
  const { db } = stores.db.connection
  const names = (await db?.listCollections().toArray())?.map(({ name }) => name).sort() ?? []
  const parts: string[] = []
  for (const name of names.filter((one) => !NOT_STATE.includes(one))) {
    const docs = (await db?.collection(name).find().sort({ _id: 1 }).toArray()) ?? []
    const hash = createHash('sha256').update(JSON.stringify(docs)).digest('hex')
    parts.push(`${name} ${docs.length} ${hash}`)
  }
  return parts
}
