import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope } from '#shared/contracts/http/envelope.ts'
import type { Answer } from '#shared/ports/answer.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { isReplayable } from './idempotency-scope.ts'

/** A request that has not renewed its lease for this long counts as dead, and a retry takes over. */
const LEASE_MS = 5_000
/** Renewal interval of a running request; two renewals may fail. */
const RENEW_MS = 1_500

/** Dependencies of running an operation at most once per key. */
export type RunOnceDeps = Uses<'idempotency' | 'secretBox' | 'clock' | 'random' | 'after'>

/** The use of an idempotency key by one request. */
export interface OnceScope {
  /** From `idempotencyScope`. */
  readonly scope: string
  readonly fingerprint: string
  readonly requestId: string
}

/** Ids for an operation's writes, equal for every retry of the same key. */
export interface OperationIds {
  /** Id for the resource that the operation creates. */
  readonly resourceId: string
  /** Stored in the target's `lastOps`, so that a retry after a lost response finds its work done. */
  readonly opId: string
}

/**
 * Runs an operation at most once per key: the first response is stored, sealed, and repeated byte for byte; a retry after a crash runs
 * again under the same ids. Without a key (`once` null) it just runs. Throws `IDEMPOTENCY_MISMATCH` and
 * `IDEMPOTENCY_IN_PROGRESS`; refusals that are not an outcome (validation, 403, 503) leave the key free; after an unexpected
 * failure, when it is unknown whether the work was done, the next request with the key resumes it under the same ids, even if
 * others were refused in between.
 */
export async function runOnce(
  deps: RunOnceDeps,
  once: OnceScope | null,
  operation: (ids: OperationIds) => Promise<Answer>,
): Promise<Answer> {
  if (once === null) return operation({ resourceId: deps.random.uuid(), opId: deps.random.uuid() })
  const { scope, fingerprint } = once
  const begun = await deps.idempotency.begin(scope, fingerprint, deps.random.uuid(), deps.clock.now(), LEASE_MS)
  if (begun.outcome === 'mismatch') throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  if (begun.outcome === 'in_progress') throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
  if (begun.outcome === 'done') {
    const { status, body } = begun.response
    return { status, body: deps.secretBox.open(body, scope), replayed: true }
  }
  const { resourceId, fencingToken } = begun
  /** Stores a response; returns the one that a retry which had taken over stored before, because every request of the key gets the same. */
  const finish = async (status: number, body: string): Promise<Answer | null> => {
    const sealed = { status, body: deps.secretBox.seal(body, scope) }
    if (await deps.idempotency.finish(scope, fencingToken, sealed)) return null
    const stored = await deps.idempotency.find(scope)
    if (stored === null || stored.fingerprint !== fingerprint) return null
    // The retry that took over is not done: its response will be that of the key.
    if (stored.response === null) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
    return { status: stored.response.status, body: deps.secretBox.open(stored.response.body, scope), replayed: true }
  }
  const stopRenewing = keepLease(deps, scope, fencingToken)
  try {
    const answer = await operation({ resourceId, opId: operationId(scope, resourceId) })
    return (await finish(answer.status, answer.body)) ?? answer
  } catch (error) {
    if (isReplayable(error)) {
      const stored = await finish(error.status, errorEnvelope(error, once.requestId))
      if (stored !== null) return stored
    }
    // A refused retry does not tell what the first run did before it died.
    else if (error instanceof PaymeshError && begun.outcome === 'begun')
      await deps.idempotency.release(scope, fencingToken)
    else await giveUp(deps, scope, fencingToken)
    throw error
  } finally {
    stopRenewing()
  }
}

/** Renews until the returned function is called. The next renewal makes up for a failed one. */
function keepLease(deps: RunOnceDeps, scope: string, fencingToken: number): () => void {
  const renew = (): void => {
    deps.idempotency.renew(scope, fencingToken, deps.clock.now() + LEASE_MS).catch(() => undefined)
    cancel = deps.after(RENEW_MS, renew)
  }
  let cancel = deps.after(RENEW_MS, renew)
  return () => cancel()
}

/** An unexpected error may follow after the work took effect, so the ids must outlive it. Never throws. */
async function giveUp(deps: RunOnceDeps, scope: string, fencingToken: number): Promise<void> {
  try {
    await deps.idempotency.giveUp(scope, fencingToken)
  } catch {
    // The store is down; the lease will expire.
  }
}

/** The resource id belongs to one use of the key: when the key is used again after its window, it is another operation. */
function operationId(scope: string, resourceId: string): string {
  return createHash('sha256').update(`${scope}\n${resourceId}`).digest('hex').slice(0, 32)
}
