import { z } from 'zod'

/**
 * An optional field of a request. Absent, `null` and `""` are the same, as forms, ORMs and our own responses write "nothing" differently;
 * so is the empty list where an object is expected, because PHP writes an empty array that way. The document shows the field as nullable,
 * and an empty text as allowed where the form of the text is free.
 */
export function optionalField<T extends z.ZodType>(schema: T) {
  const isObject = schema instanceof z.ZodObject
  const missing = (value: unknown): unknown => {
    if (value === null || value === '' || (isObject && Array.isArray(value) && value.length === 0)) return undefined
    return value
  }
  // Null never reaches the schema: `nullable` is for the document alone, so it is not in the type of the value.
  const field = z.preprocess(missing, schema.nullable().optional()).meta({ override: emptyAllowed })
  return field as unknown as z.ZodOptional<T>
}

/** An empty text is the same as none, so the document names no least length; what is said about the value is said about the field. */
function emptyAllowed({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  const [value] = (jsonSchema['anyOf'] ?? []) as Record<string, unknown>[]
  if (value === undefined) return
  delete value['minLength']
  for (const word of ['description', 'examples']) {
    if (value[word] === undefined) continue
    jsonSchema[word] = value[word]
    delete value[word]
  }
}

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
