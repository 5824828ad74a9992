import { request } from 'undici'

/** The fields of a public invoice that the demo reads. */
export interface DemoInvoice {
  readonly id: string
  readonly number: number
  readonly status: string
  readonly amount: { readonly value: string; readonly currency: string }
  readonly crypto: {
    readonly asset: string
    readonly symbol: string
    readonly network: string
    readonly amount: string
    readonly amount_base_units: string
    readonly address: string
    readonly required_confirmations: number
  } | null
  readonly received: { readonly amount: string; readonly confirmed_base_units: string }
  readonly updated_at: string
}

/** A merchant's server: calls the REST API with its key. */
export interface Merchant {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: object): Promise<T>
}

/** A client for the REST API under `apiUrl` (with `/api/v1`). Throws with code and message on any error answer. */
export function createMerchant(apiUrl: string, apiKey: string): Merchant {
  const call = async <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> => {
    const answer = await request(`${apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body ? { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const envelope = (await answer.body.json()) as { data: T; error: { code: string; message: string } | null }
    if (envelope.error !== null) throw new Error(`${method} ${path}: ${envelope.error.code} ${envelope.error.message}`)
    return envelope.data
  }
  return {
    get: async (path) => await call('GET', path),
    post: async (path, body) => await call('POST', path, body),
  }
}
