import { PaymeshError } from '#shared/contracts/errors.ts'

/** A `VALIDATION_ERROR` about entered text, by default at `value`. The message must never repeat any of it. */
export function refusal(message: string, path = 'value'): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path, message }] })
}
