import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { type Doc, unsupported } from './bson-values.ts'
import type { Execute } from './execute.ts'
import type { MemoryStore } from './memory-store.ts'
import { refuseOthers } from './refuse-others.ts'
import { createSimulatedCollection } from './simulated-collection.ts'
import { createSession } from './simulated-session.ts'

/** What one simulated process has for a connection to the store. After `close` every command rejects. */
export function openSimulatedDatabase(store: MemoryStore, exec: Execute): Database {
  let isClosed = false
  const guarded: Execute = async (operation, run) => {
    if (isClosed) throw new Error('the simulated process closed its connection to the store')
    return exec(operation, run)
  }
  const command = (name: string, answer: () => Doc): Promise<Doc> =>
    guarded({ kind: 'read', collection: '', name, steps: 1 }, answer)
  const client = refuseOthers('MongoClient', {
    startSession: () => createSession(store, guarded),
    db: () =>
      refuseOthers('Db', {
        command: async (input: Doc) => {
          if (input['hello'] === 1) {
            return command('hello', () => ({ isWritablePrimary: true, localTime: store.now(), ok: 1 }))
          }
          if (input['ping'] === 1) return command('ping', () => ({ ok: 1 }))
          throw unsupported(`command ${Object.keys(input)[0] ?? ''}`)
        },
        listCollections: ({ name: only }: { readonly name?: string } = {}) => ({
          toArray: async () =>
            store.names
              .filter((name) => only === undefined || name === only)
              .map((name) => {
                const { validator } = store.collection(name)
                return { name, type: 'collection', options: validator === undefined ? {} : { validator } }
              }),
        }),
      }),
  })
  const collections = new Map<string, object>()
  const collection = ({ name }: Pick<CollectionModel<Doc>, 'name'>): object => {
    const opened = collections.get(name) ?? createSimulatedCollection(store, guarded, name)
    collections.set(name, opened)
    return opened
  }
  return {
    name: 'simulated',
    inTransaction: async (work) => {
      const session = createSession(store, guarded)
      try {
        return await session.withTransaction(() => work(session as never))
      } finally {
        await session.endSession()
      }
    },
    losses: () => 0,
    connection: refuseOthers('Connection', { getClient: () => client }) as unknown as Database['connection'],
    collection: collection as unknown as Database['collection'],
    isHealthy: () =>
      command('ping', () => ({ ok: 1 })).then(
        () => true,
        () => false,
      ),
    close: async () => {
      isClosed = true
    },
  }
}
