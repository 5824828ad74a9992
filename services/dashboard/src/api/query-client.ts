import { QueryCache, QueryClient } from '@tanstack/react-query'
import { failureOf } from './failure.ts'

/** Data this old is asked for again when a page shows it; live signals refresh it earlier. */
const FRESH_MS = 10_000
const RETRIES_MAX = 2

/** Key of the question who is signed in: any call that is refused for want of a log-in asks it again. */
export const SESSION_KEY = [['auth', 'me'], { type: 'query' }] as const

/**
 * The one cache of answers. Old data stays on the page while new is fetched. What a person may not see or what is not there is
 * not asked again; faults of the network are, twice. Deeds are never repeated by themselves.
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
      retry: (count, error) => count < RETRIES_MAX && failureOf(error).transient,
      retryDelay: (attempt) => 500 * 2 ** attempt,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
