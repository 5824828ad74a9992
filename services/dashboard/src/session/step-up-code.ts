/** Gives a code of the authenticator for dangerous deeds of the next minutes. Throws what the server answers. */
export async function sendStepUpCode(_code: string): Promise<void> {
  throw new Error('The log-in has no second factor yet.')
}
