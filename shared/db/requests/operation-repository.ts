import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { OPERATIONS, type OperationDocument } from './operation-model.ts'

/** State of an operation id when a request presents it. */
interface PresentedOperation {
  /** False when the id is bound to another fingerprint: another actor, procedure, target or content. */
  readonly isSame: boolean
  /** True once a request with this id succeeded. */
  readonly isDone: boolean
  /** When the id was first presented. */
  readonly at: Ms
}

/** How often an id may be released between our insert and our read before the caller has to retry. */
const ATTEMPTS_MAX = 5

/** The register of operation ids on MongoDB; the primary key decides which request binds an id. */
export function createOperationRegister(db: Database) {
  const operations = db.collection(OPERATIONS)

  const bind = (row: OperationDocument): Promise<boolean> => unlessTaken(() => operations.insertOne(row))

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
    /**
     * Binds an id that is free and reports what it is bound to otherwise. `runner` names this request: only the request that bound the id
     * can release it, and not once another request with the same fingerprint has arrived.
     */
    begin: async (
      id: string,
      { fingerprint, runner, at }: { readonly fingerprint: string; readonly runner: string; readonly at: Ms },
    ): Promise<PresentedOperation> => {
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
    /** Notes that the operation succeeded. */
    finish: async (id: string): Promise<void> => {
      await operations.updateOne({ _id: id }, { $set: { done: true, runner: null } })
    },
    /** Frees an id whose only request was refused, so that a person may correct the input and send it again. */
    release: async (id: string, runner: string): Promise<void> => {
      await operations.deleteOne({ _id: id, runner, done: false })
    },
  }
}
