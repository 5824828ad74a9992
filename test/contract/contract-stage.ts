import type { ApiDeps } from '#services/api/api-deps.ts'
import type { ErrorCode } from '#shared/contracts/errors.ts'
import { type ApiAnswer, type ApiRequest, openApi, type TestApi } from '#test/support/api.ts'
import type { TestStores } from '#test/support/stores.ts'
import type { Operation, ResourceKind } from './operations.ts'

/** A well-formed id that nothing has. */
export const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057'

const CREATE_BODIES: Readonly<Record<ResourceKind, object>> = {
  invoices: { amount: '25.00', currency: 'USD' },
  'payment-links': { title: 'Mug', amount: '25.00', currency: 'USD' },
  products: { name: 'Mug', price: '25.00', currency: 'USD' },
  'webhook-endpoints': { url: 'https://1.1.1.1/hook', events: ['*'] },
}

/** Lets every request through: thousands of requests are sent here, and the bucket has its own tests. Epochs and marks stay real. */
export function unlimited({ limiter }: Pick<ApiDeps, 'limiter'>): Pick<ApiDeps, 'limiter'> {
  let request = 0
  return {
    limiter: {
      ...limiter,
      admit: (admission) => {
        request += 1
        return limiter.admit({ ...admission, bucket: `${admission.bucket}:${request}` })
      },
    },
  }
}

/** The edge without a rate limit on the file's stores. `deps` replaces single parts of it, as tests of failures need. */
export function openContractApi(stores: TestStores, options: Parameters<typeof openApi>[1] = {}): Promise<TestApi> {
  const { deps: replace, ...rest } = options
  return openApi(stores, { ...rest, deps: (deps) => ({ ...unlimited(deps), ...replace?.(deps) }) })
}

/** Sends an operation with its valid body, or the one in `request`, to the given resource. */
export function send(
  api: Pick<TestApi, 'call'>,
  operation: Operation,
  request: ApiRequest & { readonly id?: string; readonly query?: string } = {},
): Promise<ApiAnswer> {
  const { id = UNKNOWN_ID, query = '', ...rest } = request
  const path = operation.path.replace('{id}', id) + query
  return api.call(operation.method, path, { ...(operation.body !== undefined && { body: operation.body }), ...rest })
}

/** Makes a resource of the kind in the name of the key and gives its id. */
export async function makeResource(api: Pick<TestApi, 'call'>, kind: ResourceKind, key: string): Promise<string> {
  const answer = await api.call('POST', `/${kind}`, { key, body: CREATE_BODIES[kind] })
  if (answer.status !== 201) throw new Error(`could not make one of ${kind}: ${answer.text}`)
  return answer.json.data.id
}

/** Sends an operation to a resource that was made for it, so that it can succeed. */
export async function sendToOwn(api: Pick<TestApi, 'call'>, operation: Operation, key: string): Promise<ApiAnswer> {
  const id = operation.resource === undefined ? UNKNOWN_ID : await makeResource(api, operation.resource, key)
  return send(api, operation, { key, id })
}

/** Status and code of an answer, `''` for a success: `[403, 'FORBIDDEN_SCOPE']`. */
export function outcome({ status, json }: ApiAnswer): readonly [number, ErrorCode | ''] {
  return [status, json.error?.code ?? '']
}

/** An answer without what differs between any two: request id, date and rate headers. */
export function comparable({ status, text, headers }: ApiAnswer): object {
  const varying = ['date', 'x-ratelimit-remaining', 'x-ratelimit-reset']
  const shown = [...headers].map(([name, value]) => [name, varying.includes(name) ? '' : value])
  return { status, headers: shown, text: text.replace(/"req_\w+"/, '""') }
}
