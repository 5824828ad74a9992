import { createHash } from 'node:crypto'
import { ERROR_TABLE, PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { canonicalJson } from '#shared/usecases/audit/canonical-json.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** A person's reason as stored in the audit log; an empty object if none was given. */
export function reasonOf({ reason }: { readonly reason?: string | null }): { readonly reason?: string } {
  return reason === undefined || reason === null || reason === '' ? {} : { reason }
}

/** Dependencies of beginning an operation. */
export type BeginOperationDeps = Uses<'operationRegister' | 'clock' | 'random'>

/** A change that a client requests under an id of its choice. */
export interface OperationRequest {
  /** Where the client's id is unique: a workspace, the installation, or a person. */
  readonly scope: string
  /** The client's id, a UUID. */
  readonly opId: string
  readonly actor: string
  /** Path of the procedure. */
  readonly procedure: string
  /** The whole input as received, including the target, without the id. */
  readonly content: unknown
}

/** An operation that may run. */
export interface Operation {
  /**
   * A UUID derived from the client's id, actor, procedure, target and content. Audit rows and every other guard
   * against repetition use this id, so the same client id with other content can never count as done.
   */
  readonly id: string
  /** True when an earlier request with the same id and content succeeded: this one must change nothing. */
  readonly isDone: boolean
  /** When it was first requested. */
  readonly at: Ms
  /** Reports the end: `refused` frees the client's id unless another request shares it; `unknown` leaves it bound. */
  end(outcome: 'done' | 'refused' | 'unknown'): Promise<void>
}

/** Binds the client's id to the request. Throws `IDEMPOTENCY_MISMATCH` when it is bound to another one; then nothing was changed. */
export async function beginOperation(deps: BeginOperationDeps, request: OperationRequest): Promise<Operation> {
  const { scope, opId, actor, procedure, content } = request
  const key = `${scope}:${opId}`
  const { operationRegister, clock, random } = deps
  const fingerprint = createHash('sha256').update(canonicalJson({ actor, procedure, content }), 'utf8').digest('hex')
  const runner = random.uuid()
  const { isSame, isDone, at } = await operationRegister.begin(key, { fingerprint, runner, at: clock.now() })
  if (!isSame) {
    throw new PaymeshError('IDEMPOTENCY_MISMATCH', {
      message: 'This operation ID was already used for a different request. No changes were made. Use a new ID.',
      details: [{ path: 'opId', message: 'was already used for a different request' }],
    })
  }
  return {
    id: derivedUuid('operation', fingerprint, key),
    isDone,
    at,
    end: async (outcome) => {
      if (outcome === 'done') await operationRegister.finish(key)
      else if (outcome === 'refused') await operationRegister.release(key, runner)
    },
  }
}

/** Whether an error proves that nothing was changed and that the same request would be refused again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof PaymeshError && error.status < 500 && !ERROR_TABLE[error.code].retryable
}

/**
 * A UUID (version 8, RFC 9562 §5.8) derived from texts: the same texts always give the same one, so repeating an action gives the same id. Ids
 * of resources that people create are derived from their workspace and the operation, so that a client cannot choose the id of another
 * workspace's resource. It does not sort by time.
 */
export function derivedUuid(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\n'), 'utf8').digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
