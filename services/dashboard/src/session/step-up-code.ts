import { api } from '../api/trpc.ts'

/** Gives a code of the authenticator for dangerous deeds of the next minutes. Throws what the server answers. */
export async function sendStepUpCode(code: string): Promise<void> {
  await api.auth.stepUp.mutate({ code })
}
