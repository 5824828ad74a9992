import { z } from 'zod'
import { stringFault } from './fault-wording.ts'
import { isStorable, wellFormed } from './text.ts'
import { documentedAs, STORED_TEXT } from './wire-types.ts'

const KEYS_MAX = 50
const KEY_LENGTH_MAX = 40
const VALUE_LENGTH_MAX = 500
/** Names that change objects instead of being stored in them. */
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/** Form of a merchant's map of strings in JSON. */
const METADATA = {
  type: 'object',
  maxProperties: KEYS_MAX,
  propertyNames: {
    type: 'string',
    minLength: 1,
    maxLength: KEY_LENGTH_MAX,
    pattern: STORED_TEXT,
    not: { enum: [...FORBIDDEN_KEYS] },
  },
  additionalProperties: { type: 'string', maxLength: VALUE_LENGTH_MAX, pattern: STORED_TEXT },
}

/** Metadata in responses: as given at creation. */
export const metadataResource = z.record(z.string(), z.string()).meta({
  id: 'Metadata',
  description: "The merchant's own strings, returned unchanged.",
  override: documentedAs(METADATA),
})

const checked = z.unknown().transform((value, context): Record<string, string> => {
  const fault = (path: PropertyKey[], message: string): void => {
    context.addIssue({ code: 'custom', path, message, input: value })
  }
  const result: Record<string, string> = {}
  // PHP writes an empty array like this, whether it has keys or not.
  if (Array.isArray(value) && value.length === 0) return result
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fault([], 'must be an object with string values')
    return result
  }
  const entries = Object.entries(value)
  if (entries.length > KEYS_MAX) fault([], `must have at most ${KEYS_MAX} keys`)
  for (const [key, item] of entries.slice(0, KEYS_MAX + 1)) {
    const problem = keyProblem(key) ?? (item === null ? null : valueProblem(item))
    if (problem !== null) fault([wellFormed(key.slice(0, KEY_LENGTH_MAX))], problem)
    else if (typeof item === 'string') result[key] = item
  }
  return result
})

/**
 * A merchant's own strings: at most 50 keys of 1 … 40 characters, values of at most 500. A key whose value is null is left out. Each fault
 * has its own path.
 */
export const metadataBody = checked.meta({
  description: "The merchant's own strings; a key whose value is null is left out.",
  override: documentedAs(METADATA),
})

function keyProblem(key: string): string | null {
  if (key.length === 0 || isLonger(key, KEY_LENGTH_MAX)) return `the key must have 1 to ${KEY_LENGTH_MAX} characters`
  if (FORBIDDEN_KEYS.has(key)) return 'the key must not be __proto__, constructor or prototype'
  return isStorable(key) ? null : 'the key must not contain NUL or broken Unicode'
}

function valueProblem(value: unknown): string | null {
  if (typeof value !== 'string') return stringFault(value)
  if (isLonger(value, VALUE_LENGTH_MAX)) return `must have at most ${VALUE_LENGTH_MAX} characters`
  return isStorable(value) ? null : 'must not contain NUL or broken Unicode'
}

/** Counted in code points, as the limits of other texts and of the API document are; each is one or two UTF-16 units. */
function isLonger(text: string, max: number): boolean {
  return text.length > max * 2 || (text.length > max && [...text].length > max)
}
