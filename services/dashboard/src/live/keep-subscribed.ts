import type { QueryClient } from '@tanstack/react-query'
import { failureOf } from '../api/failure.ts'
import { SESSION_KEY } from '../api/query-client.ts'

/** Pause after the server ended the stream. */
const AGAIN_MS = 5_000

/**
 * Opens a stream of the server, and reopens it some seconds after the server ended it. Pages detect an ended session.
 * Returns a function that ends it.
 */
export function keepSubscribed(
  client: QueryClient,
  open: (onError: (error: Parameters<typeof failureOf>[0]) => void) => { unsubscribe: () => void },
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let subscription: { unsubscribe: () => void } | undefined
  const begin = () => {
    subscription = open((error) => {
      if (failureOf(error).code === 'UNAUTHORIZED') void client.invalidateQueries({ queryKey: SESSION_KEY })
      timer = setTimeout(begin, AGAIN_MS)
    })
  }
  begin()
  return () => {
    clearTimeout(timer)
    subscription?.unsubscribe()
  }
}
