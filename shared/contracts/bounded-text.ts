import { z } from 'zod'

/**
 * A string of at most `max` code points, which are at most twice as many UTF-16 units. Longer text ends the check of this field at once: no pattern, refinement or transformation
 * that follows reads it. Every text that a person or a program outside sends begins with this or with `trimmedText`.
 */
export function boundedText(max: number, error?: string) {
  return z.string().max(max, { abort: true, ...(error !== undefined && { error }) })
}

/** Like `boundedText`, without the white space around it, which does not count. */
export function trimmedText(max: number, error?: string) {
  return z
    .string()
    .trim()
    .max(max, { abort: true, ...(error !== undefined && { error }) })
}
