import { PaymeshError } from '#shared/contracts/errors.ts'

/** A `VALIDATION_ERROR` about what a person pasted as `value`. The message must never repeat any of it. */
export function refusal(message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'value', message }] })
}
