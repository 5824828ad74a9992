import { invalidField, type PaymeshError } from '#shared/contracts/errors.ts'

/** A `VALIDATION_ERROR` about entered text, by default at `value`. The message must never repeat any of it. */
export const refusal = (message: string, path = 'value'): PaymeshError => invalidField(path, message)
