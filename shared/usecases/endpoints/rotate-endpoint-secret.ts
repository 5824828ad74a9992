import { invalidField, invalidState, type PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { findEndpoint } from './find-endpoint.ts'
import { newEndpointSecret } from './manage-endpoints.ts'

/** A secret of Standard Webhooks 1.0: 24 to 64 random bytes in base64 behind `whsec_`. */
const SECRET = /^whsec_(?=.{32,88}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** How long the old secret keeps signing by default, and the longest overlap allowed. */
export const ROTATION_OVERLAP_MS: Ms = 86_400_000
export const ROTATION_OVERLAP_MAX_MS: Ms = 7 * 86_400_000
/** Each of them signs every delivery; more would only lengthen the header. */
const FORMER_MAX = 3
const RACES_MAX = 5

export interface RotateSecretInput {
  readonly endpointId: string
  /** From now; 0 ends the old secret, and every older one, at once. */
  readonly overlapMs: Ms
  /** The new secret, for receivers that must accept it before its first use; default: generated now. `whsec_` and 24 to 64 bytes in base64. */
  readonly newSecret?: string
  /** The same for every repetition of one request: the result is then the secret of the first run. */
  readonly opId: string
  readonly actor: string
  readonly reason?: string | null
}

/**
 * Gives an endpoint a new signing secret and returns it; it is never shown again. `X-Webhook-Signature` uses the new one from the
 * next request on: receivers that accept both secrets before that miss nothing. The old one signs only the Standard Webhooks header, which is a list, until the overlap ends. Throws
 * `NOT_FOUND`, and `VALIDATION_ERROR` for a negative overlap or one of more than a week, and for a new secret
 * that is malformed or that the endpoint has or had.
 */
export async function rotateEndpointSecret(
  deps: Uses<'endpoints' | 'operations' | 'secretBox' | 'clock' | 'random'>,
  input: RotateSecretInput,
): Promise<{ readonly secret: string; readonly oldUntil: Ms }> {
  const { endpointId, overlapMs, opId } = input
  if (!(overlapMs >= 0 && overlapMs <= ROTATION_OVERLAP_MAX_MS))
    throw invalidField('overlap', 'must be from 0 to 7 days')
  if (input.newSecret !== undefined && !SECRET.test(input.newSecret)) throw unfitSecret()
  const context = endpointSecretContext(endpointId)
  const auditId = `rotated:${endpointId}:${opId}`
  for (let races = 0; races < RACES_MAX; races += 1) {
    const endpoint = await findEndpoint(deps.endpoints, endpointId)
    const [current] = endpoint.sealedSecrets
    if (current === undefined) throw new Error(`endpoint ${endpointId} has no secret`)
    const at = deps.clock.now()
    if (endpoint.rotatedBy === opId) {
      return { secret: deps.secretBox.open(current, context), oldUntil: endpoint.formerSecrets[0]?.until ?? at }
    }
    const known = [current, ...endpoint.formerSecrets.map(({ sealed }) => sealed)]
    const secret = input.newSecret ?? newEndpointSecret(deps.random)
    const isKnown = (sealed: string) => deps.secretBox.open(sealed, context) === input.newSecret
    if (input.newSecret !== undefined && known.some(isKnown)) throw unfitSecret()
    const oldUntil = at + overlapMs
    const older = endpoint.formerSecrets.filter(({ until }) => until > at)
    const former = overlapMs === 0 ? [] : [{ sealed: current, until: oldUntil }, ...older].slice(0, FORMER_MAX)
    const next = { sealedSecrets: [deps.secretBox.seal(secret, context)], formerSecrets: former, rotatedBy: opId }
    const stored = await deps.operations.rotate(endpointId, current, next, at, {
      id: auditId,
      at,
      actor: input.actor,
      action: 'endpoint.secret_rotated',
      subject: endpointId,
      workspaceId: endpoint.workspaceId,
      mode: endpoint.mode === 'both' ? null : endpoint.mode,
      detail: { old_until: new Date(oldUntil).toISOString(), ...reasonOf(input) },
    })
    if (stored) return { secret, oldUntil }
    if (await deps.operations.isRecorded(auditId)) throw replacedSince()
  }
  throw new Error(`the secret of endpoint ${endpointId} was changed concurrently too often`)
}

function unfitSecret(): PaymeshError {
  const message = 'must be whsec_ and 24 to 64 random bytes in base64, and no secret that the endpoint has or had'
  return invalidField('newSecret', message)
}

/** The secret that this operation created no longer signs: there is nothing to return and nothing to do. */
function replacedSince(): PaymeshError {
  return invalidState('This rotation already ran, and the secret has been replaced again since. No changes were made.')
}
