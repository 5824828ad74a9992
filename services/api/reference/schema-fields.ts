import { refName, type Schema, type ShownDocument, schemaOf } from './read-document.ts'

/** One field of a body, as a reader wants to know it. */
export interface Field {
  /** Dotted path: `customer.email`, `data[].id`. */
  readonly path: string
  readonly type: string
  /** Name of the component to look at for more; null when the type says it all. */
  readonly link: string | null
  readonly required: boolean
  readonly nullable: boolean
  readonly description: string | null
  /** Bounds in words. */
  readonly bounds: readonly string[]
  /** Every value it can have; empty when there are too many to list. */
  readonly values: readonly string[]
}

const TYPE_OF_FORMAT: Readonly<Record<string, string>> = {
  uuid: 'UUID',
  'date-time': 'date and time',
  uri: 'URL',
  email: 'e-mail address',
}
/** Formats that say more than their length or pattern. */
const EXACT_FORMATS = new Set(['uuid', 'date-time', 'email'])
/** Longer patterns explain nothing to a reader. */
const PATTERN_MAX = 48
/** From here on a maximum only says how wide the integer is. */
const MAX_INT32 = 2_147_483_647
const ANYTHING = '^[^\\u0000]*$'

/**
 * The fields of an object with those of the objects inside, in order. Resources (with an `object` of their own) are not
 * repeated inside others: their field carries a link instead.
 */
export function fieldsOf(document: ShownDocument, schema: Schema, prefix = ''): readonly Field[] {
  const { properties = {}, required = [] } = schemaOf(document, schema)
  return Object.entries(properties).flatMap(([name, property]) =>
    fieldWithParts(document, property, prefix + name, required.includes(name)),
  )
}

/** One field or parameter. */
export function fieldOf(document: ShownDocument, schema: Schema, path: string, required: boolean): Field {
  const { inner, nullable } = withoutNull(schema)
  const target = schemaOf(document, inner)
  const entries = target.items
  const link = linkOf(document, inner) ?? (entries === undefined ? null : linkOf(document, entries))
  const { enum: values = [], const: only } = entries ?? target
  return {
    path,
    link,
    required,
    nullable,
    type: entries === undefined ? typeOf(target, link) : `list of ${typeOf(entries, link)}`,
    description: schema.description ?? inner.description ?? target.description ?? null,
    bounds: boundsOf(target),
    values: (only === undefined ? values : [only]).map(String),
  }
}

function fieldWithParts(document: ShownDocument, schema: Schema, path: string, required: boolean): readonly Field[] {
  const field = fieldOf(document, schema, path, required)
  if (field.link !== null) return [field]
  const target = schemaOf(document, withoutNull(schema).inner)
  if (target.items !== undefined) return [field, ...fieldsOf(document, target.items, `${path}[].`)]
  return [field, ...fieldsOf(document, target, `${path}.`)]
}

function withoutNull(schema: Schema): { readonly inner: Schema; readonly nullable: boolean } {
  const choices = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  const [inner] = choices
  if (inner === undefined) return { inner: schema, nullable: false }
  if (choices.length > 1) throw new Error('the reference cannot show a choice of several types')
  return { inner, nullable: true }
}

/** The resource that a reference names. */
function linkOf(document: ShownDocument, schema: Schema): string | null {
  if (schema.$ref === undefined) return null
  return schemaOf(document, schema).properties?.['object']?.const === undefined ? null : refName(schema.$ref)
}

function typeOf({ type = 'object', format, additionalProperties }: Schema, link: string | null): string {
  if (link !== null) return link
  if (typeof additionalProperties === 'object') return 'map of strings'
  return (type === 'string' && format !== undefined && TYPE_OF_FORMAT[format]) || type
}

function boundsOf(schema: Schema): readonly string[] {
  const { type, format = '', pattern, propertyNames, additionalProperties } = schema
  const bounds: (string | null)[] = []
  if (type === 'string' && !EXACT_FORMATS.has(format)) {
    bounds.push(range(schema.minLength, schema.maxLength, 'characters'))
    if (pattern !== undefined && pattern !== ANYTHING && pattern.length <= PATTERN_MAX && schema.enum === undefined) {
      bounds.push(`matches ${pattern}`)
    }
  }
  if (type === 'integer') bounds.push(range(schema.minimum, schema.maximum, ''))
  if (type === 'array') bounds.push(range(schema.minItems, schema.maxItems, 'entries'))
  if (typeof additionalProperties === 'object') {
    bounds.push(range(undefined, schema.maxProperties, 'keys'))
    const [key, value] = [propertyNames ?? {}, additionalProperties]
    bounds.push(`key: ${range(key.minLength, key.maxLength, 'characters')}`)
    bounds.push(`value: ${range(value.minLength, value.maxLength, 'characters')}`)
  }
  if (schema.default !== undefined) bounds.push(`default ${schema.default}`)
  return bounds.filter((bound) => bound !== null)
}

function range(min: number | undefined, max: number | undefined, unit: string): string | null {
  const highest = max === undefined || max >= MAX_INT32 ? null : grouped(max)
  const text =
    highest === null
      ? min === undefined
        ? null
        : `at least ${grouped(min)}`
      : min === undefined
        ? `at most ${highest}`
        : `${grouped(min)} to ${highest}`
  return text === null ? null : `${text} ${unit}`.trim()
}

/** Five digits and more in groups, as people read them. */
function grouped(value: number): string {
  return value < 10_000 ? String(value) : value.toLocaleString('en-US')
}
