import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { EndpointDeeds } from '#shared/ports/endpoint-operations.ts'
import type { EndpointRepository, WebhookEndpoint } from '#shared/ports/endpoints.ts'
import type { Clock, Random } from '#shared/ports/runtime.ts'
import { endpointSecretContext, type SecretBox } from '#shared/ports/secrets.ts'
import { reasonOf } from '#shared/usecases/audit/audit-reason.ts'
import { findEndpoint } from './find-endpoint.ts'
import { newEndpointSecret } from './manage-endpoints.ts'

/** How long the old secret goes on signing unless something else is said, and the longest that may be said. */
export const ROTATION_OVERLAP_MS: Ms = 86_400_000
export const ROTATION_OVERLAP_MAX_MS: Ms = 7 * 86_400_000
/** Each signs every delivery; more of them would only make the header long. */
const FORMER_MAX = 3
const RACES_MAX = 5

export interface RotateSecretDeps {
  readonly endpoints: Pick<EndpointRepository, 'findById'>
  readonly deeds: Pick<EndpointDeeds, 'rotate' | 'isRecorded'>
  readonly secretBox: SecretBox
  readonly clock: Clock
  readonly random: Random
}

export interface RotateSecretInput {
  readonly endpointId: string
  /** From now; 0 ends the old secret, and every older one, at once. */
  readonly overlapMs: Ms
  /** The same for every repetition of one wish: the secret is then the one of the first run. */
  readonly opId: string
  readonly actor: string
  readonly reason?: string | null
}

/**
 * Gives an endpoint a new signing secret and returns it; it is never shown again. `X-Webhook-Signature` is made with the new one from the
 * next request on. The old one signs only the Standard Webhooks header, which is a list, until the overlap is over. Throws
 * `NOT_FOUND`, and `VALIDATION_ERROR` on an overlap of less than nothing or more than a week.
 */
export async function rotateEndpointSecret(
  deps: RotateSecretDeps,
  input: RotateSecretInput,
): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string; readonly oldUntil: Ms }> {
  const { endpointId, overlapMs, opId } = input
  if (!(overlapMs >= 0 && overlapMs <= ROTATION_OVERLAP_MAX_MS)) {
    throw new PaymeshError('VALIDATION_ERROR', {
      details: [{ path: 'overlap', message: 'must be from 0 to 7 days' }],
    })
  }
  const context = endpointSecretContext(endpointId)
  const auditId = `rotated:${endpointId}:${opId}`
  for (let races = 0; races < RACES_MAX; races += 1) {
    const endpoint = await findEndpoint(deps.endpoints, endpointId)
    const [current] = endpoint.sealedSecrets
    if (current === undefined) throw new Error(`endpoint ${endpointId} has no secret`)
    const at = deps.clock.now()
    if (endpoint.rotatedBy === opId) {
      const secret = deps.secretBox.open(current, context)
      return { endpoint, secret, oldUntil: endpoint.formerSecrets?.[0]?.until ?? at }
    }
    const secret = newEndpointSecret(deps.random)
    const oldUntil = at + overlapMs
    const older = (endpoint.formerSecrets ?? []).filter(({ until }) => until > at)
    const former = overlapMs === 0 ? [] : [{ sealed: current, until: oldUntil }, ...older].slice(0, FORMER_MAX)
    const next = { sealedSecrets: [deps.secretBox.seal(secret, context)], formerSecrets: former, rotatedBy: opId }
    const stored = await deps.deeds.rotate(endpointId, current, next, at, {
      id: auditId,
      at,
      actor: input.actor,
      action: 'endpoint.secret_rotated',
      subject: endpointId,
      workspaceId: endpoint.workspaceId,
      mode: endpoint.mode === 'both' ? null : endpoint.mode,
      detail: { old_until: new Date(oldUntil).toISOString(), ...reasonOf(input) },
    })
    if (stored) return { endpoint: { ...endpoint, ...next }, secret, oldUntil }
    if (await deps.deeds.isRecorded(auditId)) throw replacedSince()
  }
  throw new Error(`the secret of endpoint ${endpointId} was changed by others again and again`)
}

/** The secret that this very operation made no longer signs: there is nothing to show, and nothing to do. */
function replacedSince(): PaymeshError {
  return new PaymeshError('INVALID_STATE', {
    message: 'This rotation was done, and the secret was replaced again since. Nothing was changed now.',
  })
}
