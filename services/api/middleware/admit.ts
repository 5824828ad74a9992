import type { IncomingMessage } from 'node:http'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Admission } from '#shared/ports/rate-limit.ts'
import { addressGroup, clientAddress } from '#shared/runtime/http/http-server.ts'
import { idempotencyScope, isIdempotencyKey } from '#shared/usecases/requests/idempotency-scope.ts'
import type { Credential } from '#shared/usecases/workspaces/api-key-cache.ts'
import type { ApiDeps } from '../api-deps.ts'

/** Result of admission; `credential` is null for requests without a valid key. */
export interface Admitted {
  readonly credential: Credential | null
  readonly admission: Admission
  /** Set when this request marked its idempotent operation as running, or may have, and must clear the marker. */
  readonly marker: { readonly id: string; readonly owner: string } | null
}

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

/**
 * Takes a token from the bucket of the key, or of the client's address without a valid key, and identifies the
 * client: one Redis script, and the store only when the cached records may be outdated. `path` is the operation's path with
 * its real id, for POSTs only. Never throws for a refused request; the caller reads `allowed` and `credential`.
 */
export async function admit(
  deps: Pick<ApiDeps, 'keyRing' | 'keyUse' | 'limiter' | 'trustedProxies'>,
  request: IncomingMessage,
  requestId: string,
  idempotentPath: string | null,
): Promise<Admitted> {
  const apiKey = BEARER.exec(request.headers.authorization ?? '')?.[1]
  const found = apiKey === undefined ? null : await deps.keyRing.find(apiKey)
  const marker = found === null ? null : markerOf(request, requestId, idempotentPath, found)
  const admission = await deps.limiter.admit({
    bucket: found === null ? addressBucket(deps, request) : `key:${found.key.id}`,
    keyId: found?.key.id ?? null,
    workspaceId: found?.workspace.id ?? null,
    publish: {
      keyEpoch: found?.fresh.key ? found.key.epoch : null,
      workspaceEpoch: found?.fresh.workspace ? found.workspace.epoch : null,
    },
    marker,
  })
  const held = admission.marker === 'set' || admission.marker === 'unknown' ? marker : null
  const credential = found === null || !admission.allowed ? null : await confirm(deps, found, admission, held)
  if (credential !== null) deps.keyUse.note(credential.key)
  return { credential, admission, marker: held }
}

/** A store that fails here must not leave the operation marked as running: nobody else clears the mark. */
async function confirm(
  { keyRing, limiter }: Pick<ApiDeps, 'keyRing' | 'limiter'>,
  found: Credential,
  admission: Admission,
  held: Admitted['marker'],
): Promise<Credential | null> {
  try {
    return await keyRing.confirm(found, admission)
  } catch (error) {
    if (held !== null) limiter.clearMarker(held)
    throw error
  }
}

/** Throws the refusal of an admission: `RATE_LIMITED` first, so that a flood does not learn whether its key is valid. */
export function requireAdmission(admitted: Admitted): Credential {
  if (!admitted.admission.allowed) throw new PaymeshError('RATE_LIMITED')
  if (admitted.credential === null) throw new PaymeshError('UNAUTHENTICATED')
  return admitted.credential
}

function markerOf(request: IncomingMessage, owner: string, path: string | null, { key }: Credential) {
  const header = request.headers['idempotency-key']
  if (path === null || typeof header !== 'string' || !isIdempotencyKey(header)) return null
  const id = idempotencyScope({ workspaceId: key.workspaceId, mode: key.mode, method: 'POST', path, key: header })
  return { id, owner }
}

/** The bucket of a client without a key: an IPv4 address, or the /64 of one IPv6 customer. */
export function addressBucket({ trustedProxies }: Pick<ApiDeps, 'trustedProxies'>, request: IncomingMessage): string {
  return `ip:${addressGroup(clientAddress(request, trustedProxies))}`
}
