import type { Problem } from '../format/problem-text.ts'

/** Result of a request. With `now`, the server's clock to the second, there is no problem: the data that the page has is current. */
export type Answer<T> =
  | { readonly ok: true; readonly data: T; readonly tag: string | null }
  | { readonly ok: false; readonly problem: Problem; readonly now?: number }

const TIMEOUT_MS = 20_000
/** Longer waits are believed of our server alone: a proxy in front of it may say anything. */
const WAIT_MAX_S = 3_600
/** No answer at all. */
export const OFFLINE: Problem = { code: 'OFFLINE', status: 0, retryAfter: null, paths: [] }

/**
 * Calls our own server; never rejects. `field` is what its answer has for certain: JSON without it comes from something in between.
 * `tag` identifies the data that the page already has.
 */
export async function request<T>(
  path: string,
  field: keyof T & string,
  options: { readonly body?: object; readonly tag?: string | null } = {},
): Promise<Answer<T>> {
  const { body, tag = null } = options
  const headers: Record<string, string> = {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (tag !== null) headers['If-None-Match'] = tag
  try {
    // With the mode and credentials of `fetch`, which the document's header names for the first reads (services/checkout/pages.ts).
    const response = await fetch(`/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const now = Date.parse(response.headers.get('date') ?? '')
    if (response.status === 304) return { ok: false, problem: OFFLINE, now }
    const json: unknown = await response.json().catch(() => null)
    if (response.ok && (json as T | null)?.[field])
      return { ok: true, data: json as T, tag: response.headers.get('etag') }
    return { ok: false, problem: problemOf(response, json) }
  } catch {
    return { ok: false, problem: OFFLINE }
  }
}

type Refusal = { readonly error?: { readonly code?: string; readonly details: readonly { readonly path: string }[] } }

/** What our server has not refused is open, whatever status a proxy gave it; that there were too many requests is worth knowing. */
function problemOf(response: Response, json: unknown): Problem {
  const error = (json as Refusal | null)?.error
  if (!error?.code && response.status !== 429) return OFFLINE
  const wait = Number(response.headers.get('retry-after'))
  return {
    code: error?.code ?? 'RATE_LIMITED',
    status: response.status,
    retryAfter: wait > 0 && (error?.code || wait <= WAIT_MAX_S) ? wait : null,
    paths: (error?.details ?? []).map(({ path }) => path),
  }
}

/** A new id for an action. */
export function newActionId(): string {
  // Not `randomUUID`, which only pages on https and localhost have.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-')
}

/** The id that this browser used for a purpose before, otherwise a new one: a click repeated after a reload is the same click. */
export function keptAction(purpose: string): string {
  const key = `paymesh-action ${purpose}`
  try {
    const known = sessionStorage.getItem(key)
    if (known !== null) return known
    const actionId = newActionId()
    sessionStorage.setItem(key, actionId)
    return actionId
  } catch {
    return newActionId()
  }
}

/** Drops a completed action's id, so that the next one gets a new id. */
export function forgetAction(purpose: string): void {
  try {
    sessionStorage.removeItem(`paymesh-action ${purpose}`)
  } catch {
    // Nothing was stored.
  }
}
