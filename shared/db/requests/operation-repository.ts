import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { OperationRegister, PresentedOperation } from '#shared/ports/operations.ts'
import { OPERATIONS, type OperationDocument } from './operation-model.ts'

/** How often an id may be released between our insert and our read before the caller has to retry. */
const ATTEMPTS_MAX = 5

/** The register of operation ids on MongoDB; the primary key decides which request binds an id. */
export function createOperationRegister(db: Database): OperationRegister {
  const operations = db.collection(OPERATIONS)

  async function bind(row: OperationDocument): Promise<boolean> {
    try {
      await operations.insertOne(row)
      return true
    } catch (error) {
      if (duplicateKeyFields(error) === null) throw error
      return false
    }
  }

  /** Null when the id was released in the meantime. */
  async function share(id: string, fingerprint: string): Promise<PresentedOperation | null> {
    const shared = await operations.findOneAndUpdate(
      { _id: id, fingerprint },
      { $set: { runner: null } },
      { returnDocument: 'after' },
    )
    if (shared !== null) return { isSame: true, isDone: shared.done, at: toMs(shared.at) }
    const other = await operations.findOne({ _id: id })
    return other === null || other.fingerprint === fingerprint
      ? null
      : { isSame: false, isDone: other.done, at: toMs(other.at) }
  }

  return {
    begin: async (id, { fingerprint, runner, at }) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        if (await bind({ _id: id, fingerprint, runner, done: false, at: toDate(at) })) {
          return { isSame: true, isDone: false, at }
        }
        const shared = await share(id, fingerprint)
        if (shared !== null) return shared
      }
      throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS', {
        message: 'This operation is still running. Try again in a moment.',
      })
    },
    finish: async (id) => {
      await operations.updateOne({ _id: id }, { $set: { done: true, runner: null } })
    },
    release: async (id, runner) => {
      await operations.deleteOne({ _id: id, runner, done: false })
    },
  }
}
