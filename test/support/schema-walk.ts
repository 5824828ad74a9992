import type { z } from 'zod'

/** What is read of the definition of a schema; each kind of schema has some of the fields. */
export interface SchemaDefinition {
  readonly type: string
  readonly format?: string
  readonly pattern?: RegExp
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly element?: z.core.$ZodType
  readonly innerType?: z.core.$ZodType
  readonly in?: z.core.$ZodType
  readonly out?: z.core.$ZodType
  readonly options?: readonly z.core.$ZodType[]
  readonly items?: readonly z.core.$ZodType[]
  readonly left?: z.core.$ZodType
  readonly right?: z.core.$ZodType
  readonly keyType?: z.core.$ZodType
  readonly valueType?: z.core.$ZodType
  readonly entries?: Readonly<Record<string, string | number>>
  readonly values?: readonly unknown[]
  readonly getter?: () => z.core.$ZodType
  readonly checks?: readonly z.core.$ZodCheck[]
}

/** The definition of a schema. */
export const definitionOf = (schema: z.core.$ZodType) => schema._zod.def as unknown as SchemaDefinition

/** A schema inside another, and the path of its value: `change.name`, `items[]`. */
export interface SchemaPlace {
  readonly path: string
  readonly schema: z.core.$ZodType
}

/** A schema and every schema inside it, in the order in which a value meets them. */
export function schemasWithin(schema: z.core.$ZodType, path = '', seen = new Set<z.core.$ZodType>()): SchemaPlace[] {
  if (seen.has(schema)) return []
  const within = new Set(seen).add(schema)
  const def = definitionOf(schema)
  const inside: [string, z.core.$ZodType | undefined][] = [
    ...Object.entries(def.shape ?? {}).map(([name, one]): [string, z.core.$ZodType] => [
      path === '' ? name : `${path}.${name}`,
      one,
    ]),
    // The second half of a pipe reads what the first let pass, unless that takes anything.
    ...[def.innerType, def.in, opensPipe(def) ? def.out : undefined, def.left, def.right, def.getter?.()].map(
      (one): [string, z.core.$ZodType | undefined] => [path, one],
    ),
    ...[...(def.options ?? []), ...(def.items ?? [])].map((one): [string, z.core.$ZodType] => [path, one]),
    [`${path}[]`, def.element],
    [`${path}.(key)`, def.keyType],
    [`${path}.*`, def.valueType],
  ]
  return [{ path, schema }, ...inside.flatMap(([at, one]) => (one === undefined ? [] : schemasWithin(one, at, within)))]
}

/** A value of the right shape in which every text is `text`; of alternatives it has the one with this number, of more than there are the last. */
export function hostileValue(schema: z.core.$ZodType, text: string, choice = 0): unknown {
  const def = definitionOf(schema)
  const within = def.innerType ?? def.in ?? def.left ?? def.getter?.()
  if (within !== undefined)
    return hostileValue(def.type === 'pipe' && isOpen(within) ? (def.out ?? within) : within, text, choice)
  const { options } = def
  if (options !== undefined) return hostileValue(options[Math.min(choice, options.length - 1)] ?? schema, text, choice)
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape ?? {}).map(([name, one]) => [name, hostileValue(one, text, choice)]),
      )
    case 'array':
      return def.element === undefined ? [] : [hostileValue(def.element, text, choice)]
    case 'tuple':
      return (def.items ?? []).map((one) => hostileValue(one, text, choice))
    case 'record':
      return {
        [def.keyType !== undefined && definitionOf(def.keyType).type === 'string' ? text : 'key']:
          def.valueType === undefined ? text : hostileValue(def.valueType, text, choice),
      }
    case 'enum':
      return Object.values(def.entries ?? {})[0]
    case 'literal':
      return def.values?.[0]
    case 'number':
    case 'int':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      // A form that is decided in code receives a text and, as the second choice, a map of texts.
      return def.type === 'unknown' && choice > 0 ? { [text.slice(0, 10)]: text } : text
  }
}

const opensPipe = (def: SchemaDefinition): boolean => def.in !== undefined && isOpen(def.in)

/** The first half of `z.preprocess`: any value. */
const isOpen = (schema: z.core.$ZodType): boolean => ['transform', 'any'].includes(definitionOf(schema).type)
