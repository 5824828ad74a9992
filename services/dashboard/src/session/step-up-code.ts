import { api } from '../api/trpc.ts'

/** Sends an authenticator code for dangerous actions of the next minutes. Throws the server's errors. */
export async function sendStepUpCode(code: string): Promise<void> {
  await api.auth.stepUp.mutate({ code })
}
