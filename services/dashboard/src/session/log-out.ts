import { api } from '../api/trpc.ts'

/** Ends the session on the server. Throws the server's errors. */
export async function logOut(): Promise<void> {
  await api.auth.logOut.mutate({})
}
