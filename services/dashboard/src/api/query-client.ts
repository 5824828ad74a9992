import { QueryCache, QueryClient } from '@tanstack/react-query'
import { failureOf, isLate } from './failure.ts'

/** Data this old is fetched again when a page shows it; live signals refresh it earlier. */
const FRESH_MS = 10_000
const RETRIES_MAX = 2

/** Key of the query for the signed-in person: any call refused without a login runs it again. */
export const SESSION_KEY = [['auth', 'me'], { type: 'query' }] as const

/**
 * The only cache of responses. Old data stays on the page while new data is fetched. Forbidden and missing data is
 * not requested again; network faults are retried twice, unless the answer was waited for already. Actions do not pass it.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      const lost = failureOf(error).code === 'UNAUTHORIZED' && query.queryKey !== SESSION_KEY
      if (lost) void queryClient.invalidateQueries({ queryKey: SESSION_KEY })
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES_MAX && failureOf(error).transient && !isLate(error),
      retryDelay: (attempt) => 500 * 2 ** attempt,
      refetchOnWindowFocus: true,
    },
  },
})
