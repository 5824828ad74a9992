import { z } from 'zod'

/**
 * A string of at most `max` code points, which are at most twice as many UTF-16 units. Longer text ends the check of this field at once: no
 * pattern, refinement or transformation that follows reads it. Every text that a person or a program outside sends begins with this or
 * with `trimmedText`.
 */
export function boundedText(max: number, error?: string) {
  return z.string().check(limit(max, error))
}

/** Like `boundedText`, without the white space around it, which does not count. */
export function trimmedText(max: number, error?: string) {
  return z.string().trim().check(limit(max, error))
}

/**
 * The library's limit with `abort`, which ends the checks of the whole body as well, even those that ask to run on faulty bodies. Without
 * the explicit `continue: false` it ends those of its field alone, so that one response still names every invalid field.
 */
function limit(max: number, error?: string) {
  const check = z.maxLength(max, { abort: true, ...(error !== undefined && { error }) })
  const { check: run } = check._zod
  check._zod.check = (payload) => {
    const result = run(payload)
    for (const issue of payload.issues) if (issue.continue === false) Reflect.deleteProperty(issue, 'continue')
    return result
  }
  return check
}
