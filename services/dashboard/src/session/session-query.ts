import { queryOptions } from '@tanstack/react-query'
import { queryClient, SESSION_KEY } from '../api/query-client.ts'
import { api } from '../api/trpc.ts'
import type { Session } from './session.ts'

/** The signed-in person; refetched each minute, so that a session that ended elsewhere, or became another person's, is detected. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async (): Promise<Session> => {
    const before = queryClient.getQueryData<Session>(SESSION_KEY)
    const person = await api.auth.me.query()
    // Somebody else logged in beside this page: nothing that it shows is theirs.
    if ((before ?? person).email !== person.email) window.location.assign('/')
    return person
  },
  staleTime: 60_000,
  refetchInterval: 60_000,
})
