import { invalidField, type PaymeshError } from '#shared/contracts/errors.ts'

/** The same error for every invalid challenge, whatever the cause: the cause could reveal data of other workspaces. */
export function challengeRefused(): PaymeshError {
  return proofRefused(
    'This challenge is not valid: it was already used, has expired, or is for another wallet. Request a new one and sign it.',
  )
}

/** A proof that cannot be accepted. */
export const proofRefused = (message: string): PaymeshError => invalidField('proof', message)

/** The same error for everything that a workspace does not receive on yet, whether or not others do. */
export function proofNeeded(): PaymeshError {
  return proofRefused(
    'This server has more than one workspace: sign a message to prove that you control these addresses. No changes were made.',
  )
}
