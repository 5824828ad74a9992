import type mongoose from 'mongoose'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'

const WRITES = new Set(['updateOne', 'updateMany', 'insertOne', 'insertMany', 'bulkWrite', 'deleteOne', 'deleteMany'])

/** What a process that dies throws from then on. */
export class ProcessKilled extends Error {}

/**
 * The database as a process sees it that is killed at its write number `at`, counted from 1: just before the store carries that write
 * out, or after it and before the process gets the answer. Every later write fails too.
 */
export function dyingDatabase(db: Database, at: number, when: 'before' | 'after'): Database {
  let writes = 0
  const guarded =
    (write: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      writes += 1
      if (writes > at || (writes === at && when === 'before')) throw new ProcessKilled('killed before a write')
      const answer = await write(...args)
      if (writes === at) throw new ProcessKilled('killed after a write')
      return answer
    }
  const collection = <T extends mongoose.mongo.Document>(model: CollectionModel<T>): mongoose.mongo.Collection<T> =>
    new Proxy(db.collection(model), {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        const method = member.bind(target) as (...args: unknown[]) => Promise<unknown>
        return typeof name === 'string' && WRITES.has(name) ? guarded(method) : method
      },
    })
  return { ...db, collection }
}
