import type { IncomingMessage } from 'node:http'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import { parseApiKey } from '#shared/domain/api-key.ts'
import type { Scope } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { addressGroup, clientAddress } from '#shared/runtime/http/http-server.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import type { AdminDeps } from '../assemble.ts'

const BEARER = /^Bearer +([\x21-\x7e]{1,200}) *$/i

/** An API key as currently stored, with its workspace. */
export interface KeyAccess {
  readonly key: ApiKeyRecord
  readonly workspace: Workspace
}

/**
 * Identifies the request only by its API key: operators' cookies are ignored here. It costs a token of the address, before the
 * store is read, and one of the key's rate limit. Throws `RATE_LIMITED`, `UNAUTHENTICATED`, `WORKSPACE_SUSPENDED` and `FORBIDDEN_SCOPE`.
 */
export async function authoriseKey(
  deps: AdminDeps,
  request: IncomingMessage,
  scopes: readonly Scope[],
): Promise<KeyAccess> {
  const text = BEARER.exec(request.headers.authorization ?? '')?.[1] ?? ''
  await takeToken(deps, `ip:${addressGroup(clientAddress(request, deps.config.trustedProxies))}`)
  const access = parseApiKey(text) === null ? null : await readAccess(deps, deps.hasher.hash(text))
  if (access === null) throw new PaymeshError('UNAUTHENTICATED')
  await takeToken(deps, `key:${access.key.id}`)
  requireAccess(access, scopes)
  deps.listen.keyUse.note(access.key)
  return access
}

/** Reads a key again by its hash and throws the errors of `authoriseKey` if the key is no longer allowed. */
export async function recheckKey(deps: AdminDeps, hash: string, scopes: readonly Scope[]): Promise<void> {
  const access = await readAccess(deps, hash)
  if (access === null) throw new PaymeshError('UNAUTHENTICATED')
  requireAccess(access, scopes)
}

async function takeToken({ listen }: AdminDeps, bucket: string): Promise<void> {
  const { allowed } = await listen.limiter.admit({
    bucket,
    ...{ keyId: null, workspaceId: null, publish: { keyEpoch: null, workspaceEpoch: null }, marker: null },
  })
  if (!allowed) throw new PaymeshError('RATE_LIMITED')
}

async function readAccess(deps: AdminDeps, hash: string): Promise<KeyAccess | null> {
  const key = await deps.apiKeys.findByHash(hash)
  if (key === null || key.revokedAt !== null) return null
  const workspace = await deps.workspaces.findById(key.workspaceId)
  return workspace === null ? null : { key, workspace }
}

function requireAccess({ key, workspace }: KeyAccess, scopes: readonly Scope[]): void {
  requireStatus(workspace, 'restricted')
  if (!scopes.every((scope) => key.scopes.includes(scope))) throw new PaymeshError('FORBIDDEN_SCOPE')
}
