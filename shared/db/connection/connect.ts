import mongoose from 'mongoose'
import type { Logger } from '#shared/ports/runtime.ts'
import type { CollectionModel } from './collection-model.ts'
import { explainAway, requirePrimary } from './store-away.ts'
import { requireSupportedMongo } from './store-version.ts'

/** An open connection to the store. Only repositories use MongoDB directly. */
export interface Database {
  readonly name: string
  readonly connection: mongoose.Connection
  /**
   * The driver's own collection of a model: majority and journalled writes, majority reads, primary only.
   * It bypasses mongoose documents on purpose, because hydration and change tracking would triple the cost of a write.
   */
  collection<T extends mongoose.mongo.Document>(model: CollectionModel<T>): mongoose.mongo.Collection<T>
  /** Runs `work` in one transaction, again after a conflict; it uses the session for every read and write. */
  inTransaction<T>(work: (session: mongoose.mongo.ClientSession) => Promise<T>): Promise<T>
  /** How often a server became unreachable since the connection was opened: whatever the store says afterwards may be older than what was read before. */
  losses(): number
  /** True when the primary answers a ping within `timeoutMs` (2 s if absent), whatever it does until then; never throws. */
  isHealthy(timeoutMs?: number): Promise<boolean>
  /** Closes every socket, in use or not. Safe to call twice. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** MongoDB connection string of a replica set: the writes of one document by its majority are the design. */
  readonly url: string
  /** Database name; overrides one in the URL. */
  readonly name: string
  readonly logger: Logger
  /** Most sockets this process may open. Default 64. */
  readonly maxPoolSize?: number
}

/**
 * Connects and resolves when a primary was found; rejects with `StoreAway` after 10 s without one, and at once for a server older than what is
 * supported, or without a replica set.
 * Creates nothing: `migrate` creates indexes, and `verifyIndexes` throws without them.
 */
export async function connectDatabase(options: DatabaseOptions): Promise<Database> {
  const connection = mongoose.createConnection(options.url, {
    dbName: options.name,
    appName: 'paymesh',
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    maxPoolSize: options.maxPoolSize ?? 64,
    serverSelectionTimeoutMS: 10_000,
    connectTimeoutMS: 10_000,
    retryWrites: true,
    readPreference: 'primary',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5_000 },
  })
  connection.on('error', (error: unknown) => options.logger.error({ err: error }, 'store connection failed'))
  connection.on('disconnected', () => options.logger.warn({ database: options.name }, 'store disconnected'))
  let losses = 0
  try {
    await connection.asPromise()
    await requireSupportedMongo(connection.getClient())
    await requirePrimary(connection.getClient())
  } catch (error) {
    // Otherwise the opened connection keeps searching for a primary.
    await connection.destroy(true).catch(() => undefined)
    throw explainAway(error, connection.getClient().options.replicaSet)
  }
  const native = connection.getClient().db(options.name)
  connection.getClient().on('serverDescriptionChanged', ({ newDescription }) => {
    if (newDescription.type === 'Unknown') losses += 1
  })

  return {
    name: options.name,
    connection,
    collection: <T extends mongoose.mongo.Document>(model: CollectionModel<T>) => native.collection<T>(model.name),
    inTransaction: (work) => connection.getClient().withSession((session) => session.withTransaction(work)),
    losses: () => losses,
    isHealthy: async (timeoutMs = 2_000) => {
      try {
        await native.command({ ping: 1 }, { signal: AbortSignal.timeout(timeoutMs) })
        return true
      } catch {
        return false
      }
    },
    close: async () => {
      connection.removeAllListeners('disconnected')
      await connection.close(true)
    },
  }
}
