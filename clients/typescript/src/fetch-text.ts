/** The part of `fetch` that the client uses; the global one fits, so does undici's. It must obey `signal`. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body?: string
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}>

/** One HTTP request. */
export interface HttpExchange {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** The result: a response, or the reason why there is none. */
export type FetchOutcome =
  | {
      readonly status: number
      readonly text: string
      readonly retryAfter: string | null
      /** Whether it repeats an earlier response of the same idempotency key. */
      readonly isReplayed: boolean
    }
  | { readonly fault: 'network' | 'timeout'; readonly cause: unknown }

/**
 * One exchange, from the connection to the last byte of the body within `timeoutMs`. Never follows a redirect, because
 * a key must not be sent to a host that was not configured. Rejects only with the reason of the caller's signal.
 */
export async function fetchText(
  fetch: FetchLike,
  { url, method, headers, body }: HttpExchange,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<FetchOutcome> {
  signal?.throwIfAborted()
  const abort = new AbortController()
  const endWithCaller = (): void => abort.abort(signal?.reason)
  signal?.addEventListener('abort', endWithCaller, { once: true })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    abort.abort()
  }, timeoutMs)
  try {
    const init = { method, headers, redirect: 'manual', signal: abort.signal } as const
    const answer = await fetch(url, body === undefined ? init : { ...init, body })
    const { status, headers: given } = answer
    const isReplayed = given.get('idempotent-replayed') === 'true'
    return { status, text: await answer.text(), retryAfter: given.get('retry-after'), isReplayed }
  } catch (cause) {
    signal?.throwIfAborted()
    return { fault: timedOut ? 'timeout' : 'network', cause }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', endWithCaller)
  }
}
