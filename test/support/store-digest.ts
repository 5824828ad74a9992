import { hashesOf } from './store-hashes.ts'
import type { TestStores } from './stores.ts'

/** What a request leaves behind whatever it asks for, and what is no part of any tenant's or operator's data. */
const NOT_STATE = ['operations', 'leases', 'processes', 'login_attempts', 'system.views']

/** What is stored now: one line for each collection, with a hash of its documents. */
export async function digestOf(stores: TestStores): Promise<readonly string[]> {
  const hashes = [...(await hashesOf(stores.db))].filter(([name]) => !NOT_STATE.includes(name))
  return hashes.map(([name, hash]) => `${name} ${hash}`)
}
