import { createHash } from 'node:crypto'
import { ERROR_TABLE, PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { OperationRegister } from '#shared/ports/operations.ts'
import type { Clock, Random } from '#shared/ports/runtime.ts'
import { canonicalJson } from '#shared/usecases/audit/canonical-json.ts'
import { deedId } from '#shared/usecases/audit/operation-resource-id.ts'

/** What beginning an operation needs. */
export interface BeginOperationDeps {
  readonly operations: OperationRegister
  readonly clock: Clock
  readonly random: Random
}

/** A change that a client asks for under an id of its choice. */
export interface AskedOperation {
  /** Within which the client's id is looked up: a workspace, the installation, or a person. Others never meet it. */
  readonly scope: string
  /** The client's id, a UUID. */
  readonly opId: string
  readonly actor: string
  /** Path of the procedure. */
  readonly procedure: string
  /** The whole input as it arrived, the target included, without the id. */
  readonly content: unknown
}

/** An operation that may be carried out. */
export interface Operation {
  /**
   * A UUID made of the client's id, actor, procedure, target and content. Audit rows and everything else that guards
   * against repetition hang on this id, so the same client id with other content can never pass for done.
   */
  readonly id: string
  /** True when an earlier request with the same id and content succeeded: this one must change nothing. */
  readonly isDone: boolean
  /** When it was asked for first. */
  readonly at: Ms
  /** Reports the end: `refused` frees the client's id unless another request shares it; `unknown` leaves it bound. */
  end(outcome: 'done' | 'refused' | 'unknown'): Promise<void>
}

/** Binds the client's id to what is asked. Throws `IDEMPOTENCY_MISMATCH` when it is bound to something else; then nothing was changed. */
export async function beginOperation(deps: BeginOperationDeps, asked: AskedOperation): Promise<Operation> {
  const { scope, opId, actor, procedure, content } = asked
  const key = `${scope}:${opId}`
  const { operations, clock, random } = deps
  const fingerprint = createHash('sha256').update(canonicalJson({ actor, procedure, content }), 'utf8').digest('hex')
  const runner = random.uuid()
  const { isSame, isDone, at } = await operations.begin(key, { fingerprint, runner, at: clock.now() })
  if (!isSame) {
    throw new PaymeshError('IDEMPOTENCY_MISMATCH', {
      message: 'This operation id was used for something else. Nothing was changed: send this with an id of its own.',
      details: [{ path: 'opId', message: 'was used for something else' }],
    })
  }
  return {
    id: deedId('operation', fingerprint, key),
    isDone,
    at,
    end: async (outcome) => {
      if (outcome === 'done') await operations.finish(key)
      else if (outcome === 'refused') await operations.release(key, runner)
    },
  }
}

/** Whether an error proves that nothing was changed and that the same request would be refused again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof PaymeshError && error.status < 500 && !ERROR_TABLE[error.code].retryable
}
