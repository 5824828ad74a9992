import { type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { readPlainUrl } from '#shared/contracts/http/plain-url.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import {
  ENDPOINT_MODES,
  type WebhookEndpointBody,
  type WebhookEndpointResource,
} from '#shared/contracts/http/webhook-endpoint.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import type { UrlRefusal } from '#shared/ports/url-guard.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const SECRET_BYTES = 32

const REFUSAL_TEXT: Readonly<Record<UrlRefusal, string>> = {
  malformed: 'must be an absolute URL with a host name',
  not_https: 'must be an https URL',
  credentials: 'must not carry credentials',
  port_not_allowed: 'the port must be 443 or at least 1024',
  address_not_public: 'must be reachable on public addresses only',
  localhost_not_allowed: 'localhost is allowed only for test endpoints on a development server',
}

/** Dependencies of managing webhook endpoints. */
export type ManageEndpointsDeps = Uses<'endpoints' | 'deliveries' | 'urlGuard' | 'secretBox' | 'clock' | 'random'>

/** A validated request for an endpoint, made with a key of `keyMode`. */
export interface CreateEndpointInput {
  readonly workspace: Workspace
  readonly keyMode: Mode
  readonly body: WebhookEndpointBody
  /** Pre-allocated, so that a retry after a crash finds the endpoint it created. */
  readonly endpointId: string
  readonly opId: string
}

/**
 * Registers an endpoint and returns it with its signing secret, which is never shown again, and a warning if its URL already has one. A repetition with the same
 * `endpointId` returns the endpoint of the first run. Throws `VALIDATION_ERROR` (mode or URL) and `PLAN_LIMIT_REACHED`.
 */
export async function createEndpoint(
  deps: ManageEndpointsDeps,
  input: CreateEndpointInput,
): Promise<WebhookEndpointResource> {
  const { workspace, keyMode, body, endpointId } = input
  const mode = body.mode ?? keyMode
  const earlier = await deps.endpoints.findById(endpointId)
  if (earlier !== null) return presentWithSecret(deps, earlier)
  const faults = await endpointFaults(deps, keyMode, { url: body.url, mode })
  if (faults.length > 0) throw invalid(faults)
  await requireQuota(deps, workspace)

  const secret = newEndpointSecret(deps.random)
  const now = deps.clock.now()
  const endpoint: WebhookEndpoint = {
    id: endpointId,
    workspaceId: workspace.id,
    url: body.url,
    events: [...new Set(body.events)],
    mode,
    description: body.description ?? null,
    status: 'enabled',
    sealedSecrets: [deps.secretBox.seal(secret, endpointSecretContext(endpointId))],
    formerSecrets: [],
    inFlightMax: null,
    createdAt: now,
    updatedAt: now,
    opId: input.opId,
  }
  if ((await deps.endpoints.insert(endpoint, workspace.limits.webhookEndpoints)) === 'inserted')
    return presentCreated(deps, endpoint, secret)
  const stored = await deps.endpoints.findById(endpointId)
  if (stored === null) throw new Error(`endpoint ${endpointId} exists and cannot be read`)
  return presentWithSecret(deps, stored)
}

/** A fresh signing secret: `whsec_` and 32 random bytes in base64, as verifiers of Standard Webhooks take it. */
export function newEndpointSecret(random: Pick<Random, 'bytes'>): string {
  return `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')}`
}

/**
 * Faults of an endpoint request besides its form: a mode that the key may not create, and a URL that may not be
 * called. Absent fields, and fields of a wrong type, are skipped here.
 */
export async function endpointFaults(
  deps: Pick<ManageEndpointsDeps, 'urlGuard'>,
  keyMode: Mode,
  request: { readonly url?: unknown; readonly mode?: unknown },
): Promise<readonly ErrorDetail[]> {
  const mode = ENDPOINT_MODES.find((known) => known === (request.mode ?? keyMode)) ?? keyMode
  const isForeign = mode !== keyMode && (mode !== 'both' || keyMode !== 'live')
  const fault = typeof request.url === 'string' ? await urlFault(deps, request.url, mode) : null
  return [
    ...(fault === null ? [] : [{ path: 'url', message: fault }]),
    ...(isForeign ? [{ path: 'mode', message: `a ${keyMode} key cannot create endpoints of mode ${mode}` }] : []),
  ]
}

async function urlFault(
  deps: Pick<ManageEndpointsDeps, 'urlGuard'>,
  url: string,
  mode: WebhookEndpoint['mode'],
): Promise<string | null> {
  const { fault } = readPlainUrl(url)
  if (fault !== null) return fault
  const verdict = await deps.urlGuard.check(url, { testOnly: mode === 'test' })
  return verdict.ok ? null : REFUSAL_TEXT[verdict.reason]
}

async function requireQuota(deps: ManageEndpointsDeps, workspace: Workspace): Promise<void> {
  const limit = workspace.limits.webhookEndpoints
  if (limit === null) return
  const used = await deps.endpoints.count(workspace.id)
  if (used >= limit) throw new PaymeshError('PLAN_LIMIT_REACHED', { internal: `${used} of ${limit} endpoints` })
}

function presentWithSecret(deps: ManageEndpointsDeps, endpoint: WebhookEndpoint): Promise<WebhookEndpointResource> {
  const sealed = endpoint.sealedSecrets[0]
  if (sealed === undefined) throw new Error(`endpoint ${endpoint.id} has no secret`)
  return presentCreated(deps, endpoint, deps.secretBox.open(sealed, endpointSecretContext(endpoint.id)))
}

async function presentCreated(
  deps: ManageEndpointsDeps,
  endpoint: WebhookEndpoint,
  secret: string,
): Promise<WebhookEndpointResource> {
  const all = await deps.endpoints.list(endpoint.workspaceId, null)
  return { ...presentEndpoint(endpoint), secret, warning: sameUrlWarning(endpoint, all) }
}

/** The address that is called: the dot after a name, and the fragment, change nothing. */
function calledUrl(text: string): string {
  const url = new URL(text)
  url.hash = ''
  url.hostname = url.hostname.replace(/\.$/, '')
  return url.href
}

/** A deployment script that registers its endpoint at every start makes another one each time. */
function sameUrlWarning(endpoint: WebhookEndpoint, all: readonly WebhookEndpoint[]): string | null {
  const called = calledUrl(endpoint.url)
  const others = all.filter(({ id, url, mode }) => {
    const shares = mode === endpoint.mode || mode === 'both' || endpoint.mode === 'both'
    return id !== endpoint.id && shares && calledUrl(url) === called
  })
  if (others.length === 0) return null
  const ids = others.slice(0, 5).map(({ id }) => id)
  return `This URL already has ${others.length === 1 ? 'an endpoint' : `${others.length} endpoints`} (${ids.join(', ')}): it gets each event once from every one of them, signed with different secrets. Delete those that you do not need.`
}

/** The endpoints that receive events of the key's mode, newest first, without secrets. */
export async function listEndpoints(
  deps: Pick<ManageEndpointsDeps, 'endpoints'>,
  scope: { readonly workspaceId: string; readonly keyMode: Mode },
): Promise<readonly WebhookEndpointResource[]> {
  return (await deps.endpoints.list(scope.workspaceId, scope.keyMode)).map(presentEndpoint)
}

/**
 * Deletes an endpoint and its waiting deliveries. A test key on an endpoint of mode `both` only ends its test events.
 * Throws `NOT_FOUND` for unknown endpoints and those the key cannot see.
 */
export async function deleteEndpoint(
  deps: Pick<ManageEndpointsDeps, 'endpoints' | 'deliveries'>,
  scope: { readonly workspaceId: string; readonly keyMode: Mode; readonly endpointId: string },
): Promise<void> {
  const { workspaceId, endpointId, keyMode } = scope
  const endpoint = requireOwn(await deps.endpoints.findById(endpointId), { workspaceId, mode: keyMode })
  // The endpoint first: rows that the relay adds afterwards find no endpoint and are purged by the dispatcher.
  if (endpoint.mode === 'both' && keyMode === 'test') {
    if (!(await deps.endpoints.restrictToLive(endpointId))) throw new PaymeshError('NOT_FOUND')
    await deps.deliveries.purge(endpointId, 'test')
    return
  }
  if (!(await deps.endpoints.remove(endpointId))) throw new PaymeshError('NOT_FOUND')
  await deps.deliveries.purge(endpointId, null)
}

/** The public endpoint without its secret. */
function presentEndpoint(endpoint: WebhookEndpoint): WebhookEndpointResource {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    livemode: endpoint.mode !== 'test',
    url: endpoint.url,
    events: [...endpoint.events],
    mode: endpoint.mode,
    description: endpoint.description,
    status: endpoint.status,
    created_at: new Date(endpoint.createdAt).toISOString(),
    updated_at: new Date(endpoint.updatedAt).toISOString(),
  }
}
