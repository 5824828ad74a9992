type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Longest value of an open enumeration. */
const VALUE_LENGTH_MAX = 64
/** Form of its values, old and new. */
const VALUE = '^[A-Za-z0-9_.*-]+$'
/** Most items of a list in an answer: today's number of assets or events is no bound for tomorrow's. */
const ITEMS_MAX = 10_000
const COMPONENT = /^#\/components\/schemas\/(.+)$/
/** A version date. */
const VERSION = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/

/**
 * Opens everything that a client reads: responses, errors, and the events of webhooks and callbacks. A later server may add a field, an
 * item and a value of an enumeration there (docs/versioning.md), and programs generated from a closed document would refuse both. An object
 * says so: `openapi-generator` takes silence for a refusal, and its Go and Java clients then fail on the first new field. The values of
 * today stay listed in `x-extensible-enum`. Requests stay closed, since a field that nobody reads is a mistake of the caller. Our own
 * answers are still compared with the strict schemas (`check-answer.ts`). Changes the document in place; throws when a request and an
 * answer share a schema, which cannot be both.
 */
export function openAnswers(document: Json): void {
  const schemas = ((document['components'] as Json)['schemas'] ?? {}) as Record<string, Json>
  const closed = new Set<string>()
  const opened = new Set<string>()

  const follow = (node: unknown, found: Set<string>, change: (schema: Json) => void): void => {
    if (Array.isArray(node)) for (const each of node) follow(each, found, change)
    if (!isObject(node)) return
    const name = COMPONENT.exec(String(node['$ref'] ?? ''))?.[1]
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      follow(schemas[name], found, change)
    }
    change(node)
    for (const [key, child] of Object.entries(node)) if (!/^examples?$/.test(key)) follow(child, found, change)
  }

  const paths = Object.values(document['paths'] as Record<string, Record<string, Json>>)
  for (const operation of paths.flatMap((item) => Object.values(item))) {
    follow([operation['requestBody'], operation['parameters']], closed, () => undefined)
    follow(operation['responses'], opened, open)
    follow(operation['callbacks'], opened, open)
  }
  follow((document['components'] as Json)['responses'], opened, open)
  follow(document['webhooks'], opened, open)
  const both = [...opened].filter((name) => closed.has(name))
  if (both.length > 0) throw new Error(`schemas of both requests and answers: ${both.join(', ')}`)
}

function open(schema: Json): void {
  if (schema['properties'] !== undefined) schema['additionalProperties'] = true
  if (typeof schema['maxItems'] === 'number') schema['maxItems'] = Math.max(schema['maxItems'], ITEMS_MAX)
  const { type, enum: values, const: only } = schema
  if (type !== 'string') return
  if (typeof only === 'string' && VERSION.test(only)) {
    delete schema['const']
    Object.assign(schema, { maxLength: only.length, pattern: VERSION.source })
  }
  if (!Array.isArray(values)) return
  delete schema['enum']
  Object.assign(schema, { maxLength: VALUE_LENGTH_MAX, pattern: VALUE, 'x-extensible-enum': values })
}
