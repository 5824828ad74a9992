import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { lastingOf, meaningOf, type Problem } from '../format/problem-text.ts'
import { OFFLINE, request } from './request.ts'

/** A page asks again after this long when the server names no wait, and after the other when its id is unknown. */
const RETRY_S = 5
const UNKNOWN_PAUSE_S = 60
/** After this long without an answer the page says so; the request goes on. */
const SLOW_MS = 8_500

/** What was read; until then why not, or null while the first answer may still come. */
export type LoadState<T> = { readonly data: T } | { readonly data: null; readonly problem: Problem | null }

/**
 * Reads `path` until it was read once, however long the server is away: after the wait that it asks for, and at once when the device is
 * online again. `reload` reads it again; what is shown stays until then, and goes when the server says that it has nothing under this id.
 */
export function useLoaded<T>(
  path: string,
  field: keyof T & string,
): {
  readonly loaded: LoadState<T>
  readonly reload: () => Promise<void>
  readonly accept: (data: T) => void
} {
  const [loaded, setLoaded] = useState<LoadState<T>>({ data: null, problem: null })
  const retry = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const fail = useCallback(
    (problem: Problem) =>
      setLoaded((now) => {
        if (meaningOf(problem) === 'unknown') return { data: null, problem }
        return 'problem' in now ? { data: null, problem: lastingOf(now.problem, problem) } : now
      }),
    [],
  )
  const reload = useCallback(async (): Promise<void> => {
    clearTimeout(retry.current)
    const slow = setTimeout(() => fail(OFFLINE), SLOW_MS)
    const answer = await request<T>(path, field)
    clearTimeout(slow)
    if (answer.ok) setLoaded({ data: answer.data })
    else {
      const { problem } = answer
      fail(problem)
      const wait = problem.retryAfter ?? (meaningOf(problem) === 'unknown' ? UNKNOWN_PAUSE_S : RETRY_S)
      retry.current = setTimeout(() => void reload(), wait * 1_000)
    }
  }, [path, field, fail])
  useEffect(() => {
    const again = () => void reload()
    again()
    window.addEventListener('online', again)
    return () => {
      window.removeEventListener('online', again)
      clearTimeout(retry.current)
    }
  }, [reload])
  return { loaded, reload, accept: (data) => setLoaded({ data }) }
}
