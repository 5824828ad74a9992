type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Gives every property of every schema an example, taken from the examples of whole requests and responses, so that no value is
 * written twice. A property without a value there takes that of a property with the same name and type, otherwise the first one that
 * its schema allows. Changes the document in place; throws when a property remains without an example.
 */
export function addPropertyExamples(document: Json): void {
  const schemas = ((document['components'] as Json)['schemas'] ?? {}) as Record<string, Json>
  const byName = new Map<string, unknown>()

  const annotate = (schema: Json, value: unknown): void => {
    const target = resolve(schema)
    if (Array.isArray(value)) {
      if (isObject(target['items']) && value.length > 0) annotate(target['items'], value[0])
      return
    }
    for (const branch of branchesOf(target)) annotate(branch, value)
    if (!isObject(value) || !isObject(target['properties'])) return
    for (const [name, property] of Object.entries(target['properties'] as Record<string, Json>)) {
      if (!Object.hasOwn(value, name)) continue
      keep(property, value[name])
      if (value[name] !== null) byName.set(nameOf(name, property), value[name])
      annotate(property, value[name])
    }
  }

  const resolve = (schema: Json): Json => {
    const name =
      String(schema['$ref'] ?? '')
        .split('/')
        .at(-1) ?? ''
    return schemas[name] ?? schema
  }

  for (const { schema, example } of mediaIn(document)) annotate(schema, example)
  const bare: string[] = []
  for (const [where, name, property] of propertiesOf(schemas)) {
    if (property['$ref'] !== undefined || property['examples'] !== undefined) continue
    const value = byName.get(nameOf(name, property)) ?? firstAllowed(property)
    if (value === undefined) bare.push(where)
    else property['examples'] = [value]
  }
  if (bare.length > 0) throw new Error(`without an example, in their schemas or in whole requests: ${bare.join(', ')}`)
}

const nameOf = (name: string, property: Json): string => {
  const { type, format } = nonNull(property)
  return `${name} ${type} ${format}`
}

/** The schema of a nullable property's value. */
function nonNull(property: Json): Json {
  const { type } = property
  if (Array.isArray(type)) return { ...property, type: type.find((one) => one !== 'null') }
  const [value, none, ...more] = (property['anyOf'] as readonly Json[] | undefined) ?? []
  return value !== undefined && none?.['type'] === 'null' && more.length === 0 ? value : property
}

/** A value replaces null, and the first value wins over later ones. */
function keep(property: Json, value: unknown): void {
  if (property['$ref'] !== undefined) return
  const known = property['examples'] as readonly unknown[] | undefined
  if (known === undefined || (known[0] === null && value !== null)) property['examples'] = [value]
}

/**
 * Takes the type from properties that are always null: `openapi-generator` has none for them in Python. Their only value is not declared
 * either: from a `const` ogen writes Go, and from an enumeration `openapi-generator` Java and C#, that do not compile or fail on null.
 * The description and the example say null. Nullable values keep their type. Changes the document in place.
 */
export function nullsWithoutType(document: Json): void {
  const schemas = ((document['components'] as Json)['schemas'] ?? {}) as Record<string, Json>
  for (const [, , property] of propertiesOf(schemas)) if (property['type'] === 'null') delete property['type']
}

function branchesOf(schema: Json): readonly Json[] {
  return ['allOf', 'anyOf', 'oneOf'].flatMap((word) => (schema[word] as readonly Json[] | undefined) ?? [])
}

function firstAllowed(property: Json): unknown {
  const { const: only, enum: values, type } = nonNull(property)
  if (only !== undefined) return only
  if (Array.isArray(values)) return values[0]
  if (type === 'null') return null
  return type === 'boolean' ? false : undefined
}

/** Every pair of a schema and a whole example. */
function mediaIn(node: unknown): readonly { readonly schema: Json; readonly example: unknown }[] {
  if (Array.isArray(node)) return node.flatMap(mediaIn)
  if (!isObject(node)) return []
  const { schema, example, examples } = node
  const inside = Object.entries(node).flatMap(([key, child]) =>
    key === 'example' || key === 'examples' ? [] : mediaIn(child),
  )
  if (!isObject(schema)) return inside
  const named = isObject(examples) ? Object.values(examples).map((one) => (one as Json)['value']) : []
  return [...(example === undefined ? named : [example]).map((value) => ({ schema, example: value })), ...inside]
}

/** Every property of every schema, including nested objects and list items. */
function* propertiesOf(
  schemas: Readonly<Record<string, Json>>,
): Generator<readonly [where: string, name: string, property: Json]> {
  for (const [where, schema] of Object.entries(schemas)) {
    const properties = (schema['properties'] ?? {}) as Record<string, Json>
    for (const [name, property] of Object.entries(properties)) yield [`${where}.${name}`, name, property]
    const parts = [
      ...Object.values(properties),
      ...branchesOf(schema),
      ...(isObject(schema['items']) ? [schema['items']] : []),
    ]
    for (const part of parts) yield* propertiesOf({ [where]: part })
  }
}
