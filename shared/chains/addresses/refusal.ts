import { PaymeshError } from '#shared/contracts/errors.ts'

/** A `VALIDATION_ERROR` about what a person entered, by default as `value`. The message must never repeat any of it. */
export function refusal(message: string, path = 'value'): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path, message }] })
}
