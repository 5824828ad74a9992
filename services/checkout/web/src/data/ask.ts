/** Why a request did not do what was asked. */
export interface Problem {
  /** Code of the error table, or `OFFLINE` when nothing came back. */
  readonly code: string
  readonly status: number
  /** Seconds until another try makes sense; null when nobody said. */
  readonly retryAfter: number | null
  readonly paths: readonly string[]
}

/** What a request brought. `unchanged`: what the page has is still so. */
export type Answer<T> =
  | { readonly ok: true; readonly data: T; readonly tag: string | null }
  | { readonly ok: false; readonly unchanged: true }
  | { readonly ok: false; readonly unchanged?: false; readonly problem: Problem }

const TIMEOUT_MS = 20_000
const OFFLINE: Problem = { code: 'OFFLINE', status: 0, retryAfter: null, paths: [] }

/** Asks our own server; never rejects. `tag` names what the page has already. */
export async function ask<T>(
  path: string,
  options: { readonly body?: object; readonly tag?: string | null } = {},
): Promise<Answer<T>> {
  const { body, tag = null } = options
  const headers: Record<string, string> = {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (tag !== null) headers['If-None-Match'] = tag
  try {
    const response = await fetch(`/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (response.status === 304) return { ok: false, unchanged: true }
    const json: unknown = await response.json()
    if (response.ok) return { ok: true, data: json as T, tag: response.headers.get('etag') }
    return { ok: false, problem: problemOf(response, json) }
  } catch {
    return { ok: false, problem: OFFLINE }
  }
}

function problemOf(response: Response, json: unknown): Problem {
  const { error } = json as {
    readonly error?: { readonly code: string; readonly details: readonly { readonly path: string }[] }
  }
  const wait = Number(response.headers.get('retry-after'))
  return {
    code: error?.code ?? 'INTERNAL_ERROR',
    status: response.status,
    retryAfter: wait > 0 ? wait : null,
    paths: (error?.details ?? []).map(({ path }) => path),
  }
}

/** A new name for a deed. */
export function newDeed(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID()
  // Only pages of https and of this machine have it; others have random bytes.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The deed that this browser named for a purpose before, else a new one: a click that is repeated after a reload is the same click. */
export function keptDeed(purpose: string): string {
  const key = `paymesh-deed ${purpose}`
  try {
    const known = sessionStorage.getItem(key)
    if (known !== null) return known
    const deed = newDeed()
    sessionStorage.setItem(key, deed)
    return deed
  } catch {
    return newDeed()
  }
}

/** Forgets a deed that is done with, so that the next one is another. */
export function forgetDeed(purpose: string): void {
  try {
    sessionStorage.removeItem(`paymesh-deed ${purpose}`)
  } catch {
    // Nothing was kept.
  }
}
