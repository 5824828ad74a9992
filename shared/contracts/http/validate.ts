import type { z } from 'zod'
import { type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { faultWording } from './fault-wording.ts'
import { wellFormed } from './text.ts'

/** Most invalid fields listed in one response; a body of 256 KB can be wrong in many places. */
export const DETAILS_MAX = 50
/** Longest path in a response, in UTF-16 units; the caller chooses the names of unknown fields. */
export const PATH_LENGTH_MAX = 1_000

/** The parsed value, or `VALIDATION_ERROR` with the dotted path of every invalid field, each once. */
export function validate<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value, { error: faultWording })
  if (result.success) return result.data
  throw invalid(onePerPath(result.error.issues.flatMap(toDetails)))
}

/**
 * Like `validate`, for bodies whose fields need checks beyond their form: where the form is wrong, `faultsOf` receives the body
 * and adds its own faults, so that one response lists every invalid field. It is not called for a body of the right form.
 */
export async function validateWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  faultsOf: (body: Readonly<Record<string, unknown>>) => Promise<readonly ErrorDetail[]>,
): Promise<z.output<T>> {
  const result = schema.safeParse(value, { error: faultWording })
  if (result.success) return result.data
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const more = isObject ? await faultsOf(value as Readonly<Record<string, unknown>>) : []
  throw invalid(onePerPath([...result.error.issues.flatMap(toDetails), ...more]))
}

/** The first fault of each field: a value of the wrong type also breaks rules that do not apply to it. */
function onePerPath(details: readonly ErrorDetail[]): ErrorDetail[] {
  const first = new Map<string, ErrorDetail>()
  for (const detail of details) if (!first.has(detail.path)) first.set(detail.path, detail)
  return [...first.values()]
}

/**
 * `VALIDATION_ERROR` with these details; for rules that a schema cannot express. Clients control the number of invalid fields
 * and the names of unknown ones, so the list ends at `DETAILS_MAX` and each path at `PATH_LENGTH_MAX`.
 */
export function invalid(details: readonly ErrorDetail[]): PaymeshError {
  const printed = details.slice(0, DETAILS_MAX).map((detail) => ({ ...detail, path: printedPath(detail.path) }))
  return new PaymeshError('VALIDATION_ERROR', { details: printed })
}

function printedPath(path: string): string {
  return wellFormed(path.length <= PATH_LENGTH_MAX ? path : `${path.slice(0, PATH_LENGTH_MAX - 1)}…`)
}

function toDetails(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: issue.message }))
  }
  return [{ path: issue.path.join('.'), message: issue.message }]
}
