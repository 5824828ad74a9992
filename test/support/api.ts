import type { AddressInfo } from 'node:net'
import type { ApiDeps } from '#services/api/api-deps.ts'
import { createApp, createServer } from '#services/api/app.ts'
import { assembleApi } from '#services/api/assemble.ts'
import { openApiParts } from '#services/api/open-api-parts.ts'
import { NO_PACES } from '#shared/chains/catalog.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { type Mode, SCOPES, type Scope } from '#shared/domain/enumerations.ts'
import type { RedisConnections } from '#shared/queues/connection.ts'
import { createEpochStore } from '#shared/queues/epoch-store.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { createKeyHasher } from '#shared/runtime/secrets/secret-box.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { revokeApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'
import { updateWorkspace, type WorkspaceChange } from '#shared/usecases/workspaces/update-workspace.ts'
import { issueKey } from '#test/support/issue-key.ts'
import { openEngine } from './engine.ts'
import type { TestStores } from './stores.ts'

const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3 }

/** An answer of the API as a client sees it. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, wrong ones included.
  readonly json: any
}

/** What to send. `body` is serialised unless it is a string or bytes, which go out as they are. */
export interface ApiRequest {
  readonly key?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The REST edge on real stores, listening on a free port, with a workspace that holds a test and a live key. */
export type TestApi = Awaited<ReturnType<typeof openApi>>

/** Opens the edge; call it in a hook or test of a file that uses `useStores`, and `close` it. */
export async function openApi(
  stores: TestStores,
  options: { readonly redis?: RedisConnections; readonly deps?: (deps: ApiDeps) => Partial<ApiDeps> } = {},
) {
  const engine = await openEngine(stores)
  const redis = options.redis ?? stores.redis
  const config = parseConfig({
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'test',
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
    PAYMESH_PUBLIC_CHECKOUT_URL: 'https://pay.example.com',
    PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: NODE } }),
  })
  const context = {
    ...stores.runtime,
    clock: engine.deps.clock,
    config,
    db: stores.db,
    signals: createRedisSignals(redis),
    markPlaces: [],
    paces: NO_PACES,
  }
  const wired = assembleApi({ ...openApiParts(context), notifier: engine.deps.notifier })
  const deps: ApiDeps = { ...wired, ...options.deps?.(wired) }
  const server = createServer(createApp(deps), context)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}/api/v1`

  const workspaceAdmin = {
    ...engine.deps,
    workspaceAdmin: createWorkspaceOperations(stores.db),
    hasher: createKeyHasher(config.secrets.keyPepper),
    epochs: createEpochStore(redis, () => Promise.resolve()),
  }
  const newKey = (mode: Mode, scopes: readonly Scope[] = SCOPES, workspaceId = engine.workspace.id) =>
    issueKey(workspaceAdmin, { workspaceId, mode, scopes, actor: 'test' })
  const testKey = (await newKey('test')).apiKey
  const liveKey = (await newKey('live')).apiKey

  return {
    engine,
    deps,
    port,
    baseUrl,
    testKey,
    liveKey,
    newKey,
    revoke: (keyId: string) =>
      revokeApiKey(workspaceAdmin, { keyId, action: { opId: keyId, actor: 'test', reason: null } }),
    newWorkspace: () => createWorkspace(engine.deps, { name: 'Other', ownerEmail: 'other@example.com', actor: 'test' }),
    updateWorkspace: (workspaceId: string, change: WorkspaceChange) =>
      updateWorkspace(workspaceAdmin, { workspaceId, change }),
    call: (method: string, path: string, request: ApiRequest = {}) => callApi(baseUrl, testKey, method, path, request),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends a request to the API at an address, with the default key unless the request names another or null for none. */
export async function callApi(
  baseUrl: string,
  defaultKey: string,
  method: string,
  path: string,
  { key = defaultKey, body, headers }: ApiRequest,
): Promise<ApiAnswer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(raw !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(raw !== undefined && { body: raw as string }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: text === '' ? null : JSON.parse(text) }
}
