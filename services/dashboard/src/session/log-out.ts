import { api } from '../api/trpc.ts'

/** Ends the session on the server. Throws what the server answers. */
export async function logOut(): Promise<void> {
  await api.auth.logOut.mutate()
}
