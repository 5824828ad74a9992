import { describe, expect, it } from 'vitest'
import { ROUTES } from '#services/api/routes.ts'
import { signDelivery } from '#shared/usecases/deliveries/send.ts'
import { documentValidator, OPENAPI_DOCUMENT } from '#test/support/document-validator.ts'
import { OPERATIONS } from './operations.ts'

type Json = Readonly<Record<string, unknown>>
interface Media {
  readonly where: string
  readonly schema: Json
  readonly value: unknown
}
interface DocumentedOperation {
  readonly operationId: string
  readonly 'x-scope': string
  readonly responses: Readonly<Record<string, unknown>>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const
const document = OPENAPI_DOCUMENT
const text = JSON.stringify(document, null, 2)

/** Every operation of the document. */
const documented = Object.entries(document.paths as Record<string, Record<string, DocumentedOperation>>).flatMap(
  ([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ method: method.toUpperCase(), path, operation }]
    }),
)

function row(method: string, path: string, scope: string): string {
  return `${method} ${path} ${scope}`
}

/** Every example in the document with the schema beside it, wherever it stands. */
function examplesIn(node: unknown, where: string): readonly Media[] {
  if (typeof node !== 'object' || node === null) return []
  const { schema, example, examples } = node as { schema?: Json; example?: unknown; examples?: Record<string, Json> }
  const inside = Object.entries(node).flatMap(([key, child]) =>
    key === 'example' || key === 'examples' ? [] : examplesIn(child, `${where}/${key}`),
  )
  if (schema === undefined) return inside
  const named = Object.entries(examples ?? {}).map(([name, { value }]) => ({
    where: `${where}#${name}`,
    schema,
    value,
  }))
  return [...inside, ...(example === undefined ? [] : [{ where, schema, value: example }]), ...named]
}

describe('the operations of the committed document', () => {
  it('are those that the edge serves, with their scopes', () => {
    const served = ROUTES.map(({ method, path, scope }) => row(method, path, scope))
    expect(documented.map(({ method, path, operation }) => row(method, path, operation['x-scope'])).sort()).toEqual(
      served.sort(),
    )
  })

  it('are those of the specification, with their status of success', () => {
    const specified = OPERATIONS.map(({ method, path, scope, success }) => `${row(method, path, scope)} ${success}`)
    const described = documented.map(({ method, path, operation }) => {
      const successes = Object.keys(operation.responses).filter((status) => Number(status) < 400)
      return `${row(method, path, operation['x-scope'])} ${successes.join()}`
    })
    expect(described.sort()).toEqual(specified.sort())
  })

  it('have their own name each', () => {
    expect(new Set(documented.map(({ operation }) => operation.operationId)).size).toBe(OPERATIONS.length)
  })
})

describe('the examples of the committed document', () => {
  const examples = examplesIn(document, '')

  it('stand at every body: requests, successes, errors and the event', () => {
    const bodies = text.match(/"application\/json": \{/g)?.length ?? 0
    const shown = new Set(
      examples.map(({ where }) => where.replace(/#[^/]*$/, '')).filter((where) => where.endsWith('/json')),
    )
    expect(shown.size).toBe(bodies)
  })

  it.each(examples.map((example) => [example.where, example] as const))(
    '%s fits its schema',
    (_, { schema, value }) => {
      expect(documentValidator(schema)(value)).toEqual([])
    },
  )

  it.each(ROUTES.filter(({ body }) => body !== undefined))('$operationId takes its own example', ({ body }) => {
    expect(body?.schema.safeParse(body.example).error?.issues ?? []).toEqual([])
  })

  it('fit with a field that is newer than the document, and not with one too few', () => {
    const event = document.webhooks.event.post.requestBody.content['application/json']
    const faultsOf = documentValidator(event.schema)
    const { livemode: _, ...without } = event.example
    expect(faultsOf(event.example)).toEqual([])
    expect(faultsOf({ ...event.example, more: 1 })).toEqual([])
    expect(faultsOf(without)).not.toEqual([])
    expect(faultsOf({ ...event.example, data: { object: { ...event.example.data.object, number: 0 } } })).not.toEqual(
      [],
    )
  })
})

/** A copy in which every object has a field more, and every text that stands in an open enumeration another value. */
function ofLaterServer(value: unknown, known: ReadonlySet<unknown>): unknown {
  if (Array.isArray(value)) return value.map((each) => ofLaterServer(each, known))
  if (typeof value !== 'object' || value === null) return known.has(value) ? `${value}_2` : value
  const fields = Object.entries(value).map(([name, one]) => [name, name === 'object' ? one : ofLaterServer(one, known)])
  return { ...Object.fromEntries(fields), field_of_later: 'x' }
}

describe('what a later server may send', () => {
  const known = new Set(
    [...text.matchAll(/"x-extensible-enum": \[([^\]]*)\]/g)].flatMap(([, list]) => JSON.parse(`[${list}]`)),
  )
  const [requests, answers] = [true, false].map((own) =>
    examplesIn(document, '').filter(
      ({ where }) => own === /^\/paths\/[^{]*(\{id\}[^{]*)?\/requestBody\//.test(where.replace(/callbacks.*/, '')),
    ),
  )

  // Guarantee: no client that was generated from the document stops working because a field or a value was added.
  it.each((answers ?? []).map((answer) => [answer.where, answer] as const))(
    'fits the document: %s',
    (_, { schema, value }) => {
      expect(documentValidator(schema)(ofLaterServer(value, known))).toEqual([])
    },
  )

  it('includes events, assets, currencies, networks, states, codes and versions', () => {
    for (const value of ['invoice.paid', 'btc_bitcoin', 'USD', 'base', 'paid', 'NOT_FOUND', 'no_wallet'])
      expect(known).toContain(value)
    const event = document.webhooks.event.post.requestBody.content['application/json']
    expect(documentValidator(event.schema)({ ...event.example, api_version: '2027-04-01' })).toEqual([])
    expect(answers?.length).toBeGreaterThan(100)
  })

  it.each((requests ?? []).map((request) => [request.where, request] as const))(
    'is no field of a request: %s',
    (_, { schema, value }) => {
      expect(documentValidator(schema)({ ...(value as Json), field_of_later: 'x' })).not.toEqual([])
    },
  )
})

describe('the headers of the documented webhook', () => {
  const parameters = document.webhooks.event.post.parameters as readonly { name: string; schema: Json }[]
  const sent = signDelivery({
    deliveryId: `whd_${'a1'.repeat(13)}`,
    eventId: 'evt_01920a5e4c7b7d3a9f216b8f0c1d2e3f_4',
    eventType: 'invoice.late_payment',
    body: Buffer.from('{}'),
    timestampS: 1_790_000_000,
    secrets: ['whsec_ZXhhbXBsZSBzZWNyZXQ=', 'whsec_b2xkZXIgc2VjcmV0'],
  })

  it('are the ones that a delivery carries', () => {
    const named = Object.keys(sent).filter((name) => !['Content-Type', 'User-Agent'].includes(name))
    expect(parameters.map(({ name }) => name)).toEqual(named)
  })

  it.each(parameters)('$name fits its schema', ({ name, schema }) => {
    expect(documentValidator(schema)(sent[name])).toEqual([])
    expect(documentValidator(schema)('¬')).not.toEqual([])
  })
})

describe('what generators of clients need', () => {
  const schemas = document.components.schemas as Record<string, Json>
  const propertiesOf = (schema: Json): readonly (readonly [string, Json])[] => {
    const own = Object.entries((schema['properties'] ?? {}) as Record<string, Json>)
    return [...own, ...own.flatMap(([, property]) => propertiesOf(property))]
  }

  it('every property has an example that its schema accepts', () => {
    const properties = Object.entries(schemas).flatMap(([name, schema]) =>
      propertiesOf(schema).map(([key, property]) => ({ where: `${name}.${key}`, property })),
    )
    expect(properties.length).toBeGreaterThan(200)
    const wrong = properties.filter(({ property }) => {
      if (property['$ref'] !== undefined) return false
      const { examples, ...schema } = property as { examples?: readonly unknown[] }
      return examples?.length !== 1 || documentValidator(schema)(examples[0]).length > 0
    })
    expect(wrong.map(({ where }) => where)).toEqual([])
  })

  it('what is sent to merchants has its own tag, and a path refers to its body', () => {
    expect(document.webhooks.event.post.tags).toEqual(['Events'])
    expect(documented.filter(({ operation }) => JSON.stringify(operation).includes('"tags":["Events"]'))).toHaveLength(
      1,
    )
    expect(JSON.stringify(document.paths)).toContain('"#/components/schemas/Event"')
  })

  it('no property has null for its type or its only value, for which some languages have none', () => {
    const typed = Object.entries(schemas).flatMap(([name, schema]) =>
      propertiesOf(schema)
        .filter(([, property]) => property['type'] === 'null' || property['const'] === null || nullAlone(property))
        .map(([key]) => `${name}.${key}`),
    )
    expect(typed).toEqual([])
  })

  const nullAlone = ({ enum: values }: Json): boolean => Array.isArray(values) && values.every((one) => one === null)

  // Go and Java take an object that says nothing for one that has no more fields.
  it('every object says whether it may have more fields', () => {
    const silent = (node: unknown, where: string): readonly string[] => {
      if (typeof node !== 'object' || node === null) return []
      const { type, properties, additionalProperties } = node as Json
      const own =
        type === 'object' && properties !== undefined && typeof additionalProperties !== 'boolean' ? [where] : []
      return [...own, ...Object.entries(node).flatMap(([key, child]) => silent(child, `${where}/${key}`))]
    }
    expect(silent(document, '')).toEqual([])
  })

  // C# and PHP have a type for both that has no length.
  it('no identifier and no time has a length or a pattern beside its format', () => {
    const bounded = [...text.matchAll(/\{[^{}]*"format": "(?:uuid|date-time)"[^{}]*\}/g)].map(([schema]) => schema)
    expect(bounded.length).toBeGreaterThan(30)
    expect(bounded.filter((schema) => /"(?:minLength|maxLength|pattern)"/.test(schema))).toEqual([])
  })
})
