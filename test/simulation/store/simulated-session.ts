import mongoose from 'mongoose'
import type { Execute } from './execute.ts'
import type { MemoryStore, Transaction } from './memory-store.ts'
import { refuseOthers } from './refuse-others.ts'

/** A session of the simulated driver: at most one transaction at a time. */
export interface SimulatedSession {
  /** The transaction that operations with this session belong to; null outside of one. */
  transaction: Transaction | null
  withTransaction<T>(callback: (session: SimulatedSession) => Promise<T>): Promise<T>
  endSession(): Promise<void>
}

/** How long the driver goes on retrying a transaction. */
const RETRY_MS = 120_000

/**
 * A session like the driver's: `withTransaction` runs its callback again after a write conflict, a network error or a lost primary inside
 * the transaction, and repeats a commit whose answer was lost, both for 120 s of the store's time.
 */
export function createSession(store: MemoryStore, exec: Execute): SimulatedSession {
  const session: SimulatedSession = {
    transaction: null,
    withTransaction: async (callback) => {
      const until = store.now().getTime() + RETRY_MS
      const mayRetry = (error: unknown): boolean => isTransient(error) && store.now().getTime() < until
      for (;;) {
        const transaction = store.beginTransaction()
        try {
          session.transaction = transaction
          const result = await callback(session)
          await commit(transaction, mayRetry)
          return result
        } catch (error) {
          if (!mayRetry(error)) throw error
        } finally {
          session.transaction = null
        }
      }
    },
    endSession: async () => {
      session.transaction = null
    },
  }

  async function commit(transaction: Transaction, mayRetry: (error: unknown) => boolean): Promise<void> {
    for (;;) {
      try {
        await exec({ kind: 'write', collection: '', name: 'commitTransaction', steps: 1 }, () => transaction.commit())
        return
      } catch (error) {
        if (!isLost(error) || !mayRetry(error)) throw error
      }
    }
  }

  return refuseOthers('ClientSession', session)
}

/** What a server answers while it is not or no longer the primary; inside a transaction it labels them as transient. */
const NOT_PRIMARY_CODES: readonly unknown[] = [91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]

const isLost = (error: unknown): boolean =>
  error instanceof mongoose.mongo.MongoNetworkError ||
  (error instanceof mongoose.mongo.MongoServerError && NOT_PRIMARY_CODES.includes(error.code))

const isTransient = (error: unknown): boolean =>
  isLost(error) || (error instanceof mongoose.mongo.MongoError && error.hasErrorLabel('TransientTransactionError'))
