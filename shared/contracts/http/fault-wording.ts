import type { z } from 'zod'

/** Most values that a message lists; with more it names the field's description instead. */
const LISTED_MAX = 30
/** Longest value that a message repeats. */
const SHOWN_MAX = 40

/**
 * The message of a fault for which the schema gives no text: the rule and, where there is one, the cure, in words that follow
 * the name of the field. For `safeParse(value, { error })`; the library's own texts describe its types, which no reader has seen.
 */
export function faultWording(issue: z.core.$ZodRawIssue): string {
  const { input } = issue
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined ? 'is required' : typeFault(issue.expected, input)
    case 'invalid_value':
      return input === undefined ? 'is required' : `must be ${choice(issue.values)}`
    case 'too_big':
      return `must ${limitOf(issue.origin, 'at most', Number(issue.maximum))}`
    case 'too_small':
      return issue.origin === 'string'
        ? 'must not be empty'
        : `must ${limitOf(issue.origin, 'at least', Number(issue.minimum))}`
    case 'unrecognized_keys':
      return 'is not a known field'
    case 'invalid_format':
      return 'has the wrong form'
    default:
      return 'is not a valid value'
  }
}

/** Why this value is refused where a string is expected, with the string to send instead if there is one. */
export function stringFault(value: unknown): string {
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  return isScalar && String(value).length <= SHOWN_MAX ? `must be a string: write "${value}"` : 'must be a string'
}

function typeFault(expected: string, input: unknown): string {
  switch (expected) {
    case 'string':
      return stringFault(input)
    case 'number':
    case 'int':
      return typeof input === 'string' && /^-?[0-9]{1,15}$/.test(input)
        ? `must be a whole number: write ${input} without quotes`
        : 'must be a whole number'
    case 'boolean':
      return 'must be true or false, without quotes'
    case 'array':
      return 'must be a list, like ["*"]'
    case 'object':
      return 'must be an object'
    default:
      return 'has a value of the wrong type'
  }
}

function limitOf(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return `have ${bound} ${limit} characters`
  if (origin === 'array' || origin === 'set') return `have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
  return `be ${bound} ${limit}`
}

function choice(values: readonly unknown[]): string {
  const shown = values.slice(0, LISTED_MAX).map(String).join(', ')
  return values.length === 1 ? shown : `one of: ${shown}`
}
