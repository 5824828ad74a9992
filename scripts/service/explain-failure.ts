import { ConfigError } from '#shared/config/schema.ts'
import { errorText } from '#shared/contracts/error-text.ts'

/**
 * Text for a person whose process could not start. Errors of the configuration, of the stores and of the system, whose messages
 * state the fault, are one sentence; only an error of the program itself shows its stack.
 */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return errorText(error)
  const isOfProgram = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  if (error instanceof ConfigError) return error.message
  if (!isOfProgram) return errorText(error)
  return error.stack ?? error.message
}
