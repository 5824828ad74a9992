/** A schema of the OpenAPI document, as far as types of clients are made from it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly const?: unknown
  readonly description?: string
}

/** A schema with a name: a component, or an object inside one. */
export interface NamedSchema {
  readonly name: string
  readonly schema: Schema
}

/** The type of a value, before it has the form of a language. */
export type ValueType =
  | { readonly kind: 'text' | 'integer' | 'boolean' | 'texts' }
  | { readonly kind: 'object'; readonly name: string }
  | { readonly kind: 'list'; readonly of: ValueType }

/** A field of an object. */
export interface Field {
  readonly name: string
  readonly value: ValueType
  readonly nullable: boolean
  readonly required: boolean
  readonly description: string | undefined
}

const ENVELOPE = /Response$/

/** Every object of the document but the envelopes, those inside others under the name of their place. */
export function objectsOf(schemas: Readonly<Record<string, Schema>>): readonly NamedSchema[] {
  const inside = ({ name, schema }: NamedSchema): readonly NamedSchema[] =>
    Object.entries(schema.properties ?? {}).flatMap(([field, one]) => {
      const { properties } = one
      const nested = { name: `${name}${pascal(field)}`, schema: one }
      return properties === undefined ? [] : [nested, ...inside(nested)]
    })
  return Object.entries(schemas)
    .filter(([name, { properties }]) => properties !== undefined && !ENVELOPE.test(name))
    .flatMap(([name, schema]) => [{ name, schema }, ...inside({ name, schema })])
}

/** The fields of an object, required ones first, in the order of the document. */
export function fieldsOf({ name, schema }: NamedSchema): readonly Field[] {
  const fields = Object.entries(schema.properties ?? {}).map(([field, one]): Field => {
    const [value, nullable] = withoutNull(one)
    const required = schema.required?.includes(field) === true
    return {
      name: field,
      value: typeOf(value, `${name}${pascal(field)}`),
      nullable,
      required,
      description: one.description,
    }
  })
  return [...fields.filter(({ required }) => required), ...fields.filter(({ required }) => !required)]
}

/** `next_cursor` as `NextCursor`. */
export function pascal(text: string): string {
  return text.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function withoutNull(schema: Schema): readonly [Schema, boolean] {
  const { anyOf, type } = schema
  if (Array.isArray(type)) return [{ ...schema, type: String(type.find((one) => one !== 'null')) }, true]
  const value = anyOf?.find((one) => one.type !== 'null')
  return value === undefined ? [schema, false] : [value, anyOf?.length === 2]
}

function typeOf(schema: Schema, place: string): ValueType {
  const { $ref, type, items, properties } = schema
  if ($ref !== undefined)
    return $ref.endsWith('/Metadata') ? { kind: 'texts' } : { kind: 'object', name: $ref.replace(/^.*\//, '') }
  if (properties !== undefined) return { kind: 'object', name: place }
  if (type === 'array' && items !== undefined) return { kind: 'list', of: typeOf(items, place) }
  if (type === 'object') return { kind: 'texts' }
  if (type === 'integer') return { kind: 'integer' }
  if (type === 'boolean') return { kind: 'boolean' }
  if (type === 'string' || schema.const !== undefined) return { kind: 'text' }
  throw new Error(`no type for ${place}: ${JSON.stringify(schema)}`)
}
