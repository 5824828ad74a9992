import { type ErrorCode, type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { bodyFingerprint, idempotencyScope } from '#shared/usecases/requests/idempotency-scope.ts'
import { runOnce } from '#shared/usecases/requests/run-once.ts'
import type { AdminDeps } from './assemble.ts'

/** An operation that creates a resource, once. */
interface CreateOperation {
  readonly workspaceId: string
  readonly mode: 'live' | 'test'
  readonly opId: string
  /** The kind of resource. */
  readonly path: string
  /** The request: a different one under the same operation is refused. */
  readonly request: unknown
}

/**
 * Creates a resource that lists sort by its id: `make` receives an id that begins with its time, the same one whenever the operation is
 * repeated, also after a crash. Throws `IDEMPOTENCY_MISMATCH` and `IDEMPOTENCY_IN_PROGRESS`.
 */
export async function once<T>(
  { deps, requestId }: { readonly deps: AdminDeps; readonly requestId: string },
  { workspaceId, mode, opId, path, request }: CreateOperation,
  make: (id: string) => Promise<T>,
): Promise<T> {
  const scope = idempotencyScope({ workspaceId, mode, method: 'OPERATOR', path, key: opId })
  const fingerprint = bodyFingerprint(Buffer.from(JSON.stringify(request), 'utf8'))
  const answer = await runOnce(deps.money, { scope, fingerprint, requestId }, async ({ resourceId }) => {
    return { status: 201, body: JSON.stringify(await make(resourceId)), replayed: false }
  })
  if (answer.status === 201) return JSON.parse(answer.body) as T
  const { error } = JSON.parse(answer.body) as { error: { code: ErrorCode; message: string; details?: ErrorDetail[] } }
  throw new PaymeshError(error.code, { message: error.message, ...(error.details && { details: error.details }) })
}
