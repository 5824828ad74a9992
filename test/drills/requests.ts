/** Every request of merchants, payers and operators, counted; none of them is ever repeated. */
export interface Requests {
  /** Sends one request; null when it failed, which is kept. */
  send<T>(what: string, request: () => Promise<T>): Promise<T | null>
  readonly counts: ReadonlyMap<string, number>
  readonly failures: readonly string[]
}

/** A count of nothing. */
export function createRequests(phase: () => string): Requests {
  const counts = new Map<string, number>()
  const failures: string[] = []
  return {
    counts,
    failures,
    send: async (what, request) => {
      counts.set(what, (counts.get(what) ?? 0) + 1)
      try {
        return await request()
      } catch (error) {
        failures.push(`${new Date().toISOString()} ${phase()}: ${what}: ${textOf(error)}`)
        return null
      }
    },
  }
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message} (${textOf(error.cause)})`
}

/** Sends JSON and reads JSON. Throws with status and text of any answer that is no success. */
export async function fetchJson<T>(url: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) })
  const text = await response.text()
  if (!response.ok)
    throw new Error(
      `${init.method ?? 'GET'} ${new URL(url).pathname} answered ${response.status} ${text.slice(0, 300)}`,
    )
  return JSON.parse(text) as T
}

/** As `fetchJson`, with a body. */
export function post<T>(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<T> {
  return fetchJson(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}
