import { z } from 'zod'

/** The input of a procedure without fields. */
export const NO_FIELDS: z.ZodType<object | null | undefined, object | null | undefined> = z.strictObject({}).nullish()

/**
 * The whole input of a procedure: the fields of `known` and of `own`, and no other at any level. Its type stays that of `known`; the
 * procedure's `.input` adds the type of its own fields. Throws when the procedure is defined, so that the process does not start, if `own`
 * is not a plain object or contains an object that drops unknown fields, or a value of any form.
 */
export function strictInput<Known extends z.ZodType>(known: Known, own: unknown): Known {
  if (own === null) return (known instanceof z.ZodObject ? known.strict() : known) as Known
  if (!(own instanceof z.ZodObject) || own.def.checks !== undefined)
    throw new TypeError('the input of a procedure must be an object without its own checks')
  const shape = { ...(known instanceof z.ZodObject ? known.shape : {}), ...own.shape }
  for (const [name, field] of Object.entries(shape)) requireStrict(field, name)
  return z.strictObject(shape) as unknown as Known
}

/**
 * A procedure with the input that `make` reads, to which its `.input` adds its own fields once. All of them are read together and strictly,
 * before what `make` puts behind them, so that no procedure drops a field, and no check runs on an input that was not validated.
 */
export function strictly<Procedure extends { input(schema: never): unknown }>(
  make: (own: unknown) => Procedure,
): Procedure {
  return Object.assign(make(null), { input: make as Procedure['input'] })
}

/** Throws a `TypeError` that names the first schema within this one that accepts fields nobody declared. */
function requireStrict(schema: unknown, path: string): void {
  if (!(schema instanceof z.core.$ZodType)) return
  const { def } = schema._zod
  if (def.type === 'any' || def.type === 'unknown') throw new TypeError(`${path} accepts everything`)
  if (schema instanceof z.ZodObject && schema.def.catchall?._zod.def.type !== 'never')
    throw new TypeError(`${path} must be a strict object`)
  for (const [name, part] of Object.entries(def)) {
    if (Array.isArray(part)) for (const one of part) requireStrict(one, path)
    else requireStrict(part, path)
    if (name === 'shape') for (const [field, inner] of Object.entries(part)) requireStrict(inner, `${path}.${field}`)
  }
}
