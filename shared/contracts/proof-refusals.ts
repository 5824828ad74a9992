import { PaymeshError } from '#shared/contracts/errors.ts'

/** The one answer to a challenge that does not hold, whatever the cause: causes would say what others have. */
export function challengeRefused(): PaymeshError {
  return proofRefused(
    'This challenge does not hold: it was used, has expired, or is about something else. Ask for a new one and sign it.',
  )
}

/** A proof that cannot be taken. */
export function proofRefused(message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'proof', message }] })
}

/** The one answer to whatever a workspace does not receive on yet, known to others or not. */
export function proofNeeded(): PaymeshError {
  return proofRefused(
    'This installation serves more than one workspace: prove that you control these addresses by a signed message. Nothing was stored.',
  )
}
