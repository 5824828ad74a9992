import { queryOptions } from '@tanstack/react-query'
import { SESSION_KEY } from '../api/query-client.ts'
import { api } from '../api/trpc.ts'
import type { Session } from './session.ts'

/** The signed-in person; refetched each minute, so that a session ended elsewhere is detected. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async (): Promise<Session> => await api.auth.me.query(),
  staleTime: 60_000,
  refetchInterval: 60_000,
})
