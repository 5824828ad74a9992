import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Recovery } from '#shared/db/deliveries/recovery-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'
import { findEndpoint, requireEnabled } from '#shared/usecases/endpoints/find-endpoint.ts'
import type { Uses } from '#shared/usecases/uses.ts'

export type AskRecoveryDeps = Uses<'endpoints' | 'recoveries' | 'notifier' | 'clock'>

export interface AskRecoveryInput {
  readonly endpointId: string
  readonly since: Ms
  /** Exclusive; null means now. */
  readonly until: Ms | null
  readonly scope: Recovery['scope']
  /** A UUID, the same for every repetition of one request; together they create one recovery. */
  readonly opId: string
  readonly actor: string
  readonly reason?: string | null
}

/**
 * Requests to resend a period's events to an endpoint: `failed` for events that it never accepted (events while it was
 * disabled included), `all` for every event that it is subscribed to. Accepted at once, however many there are; a worker runs
 * it. Throws `NOT_FOUND`, `VALIDATION_ERROR` for an empty period, and `INVALID_STATE` when the endpoint is disabled or
 * another recovery of it is open.
 */
export async function askRecovery(deps: AskRecoveryDeps, input: AskRecoveryInput): Promise<Recovery> {
  const { endpointId, since, scope, opId } = input
  const endpoint = await findEndpoint(deps.endpoints, endpointId)
  requireEnabled(endpoint)
  const at = deps.clock.now()
  const until = Math.min(input.until ?? at, at)
  if (!(since < until)) {
    throw new PaymeshError('VALIDATION_ERROR', {
      details: [{ path: 'since', message: 'must be in the past and before until' }],
    })
  }
  const { workspaceId } = endpoint
  const asked: Recovery = {
    ...{ id: opId, workspaceId, endpointId, since, until, scope },
    ...{ state: 'open', scanned: 0, made: 0, askedAt: at, finishedAt: null, dueAt: at, leaseToken: null },
    place: { createdAt: since, id: '' },
  }
  const standing = await deps.recoveries.ask(asked, {
    id: `recovery_asked:${opId}`,
    at,
    actor: input.actor,
    action: 'endpoint.recovery_asked',
    subject: endpointId,
    workspaceId,
    mode: endpoint.mode === 'both' ? null : endpoint.mode,
    detail: { recovery: opId, since: isoTime(since), until: isoTime(until), scope, ...reasonOf(input) },
  })
  if (standing.id !== opId && (standing.since !== since || standing.scope !== scope || input.until !== null)) {
    const progress = `${standing.scanned} events checked, ${standing.made} resent`
    throw new PaymeshError('INVALID_STATE', {
      message: `Resend ${standing.id} since ${isoTime(standing.since)} is still running (${progress}).`,
    })
  }
  if (standing.state === 'open') deps.notifier.notify(QUEUES.recoveries, standing.id)
  return standing
}

function isoTime(at: Ms): string {
  return new Date(at).toISOString()
}
