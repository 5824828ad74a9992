import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { ROUTES } from '#services/api/routes.ts'
import { emptyBody } from '#shared/contracts/http/simulate-request.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { documentValidator, OPENAPI_DOCUMENT } from '#test/support/document-validator.ts'
import { definitionOf } from '#test/support/schema-walk.ts'

type Json = Readonly<Record<string, unknown>>
type Shape = Readonly<Record<string, z.core.$ZodType>>

/** One field of the body of an operation: `body(value)` is a valid body in which it has this value; without a value it is left out. */
interface Field {
  readonly where: string
  readonly path: string
  readonly schema: z.ZodType
  readonly optional: boolean
  readonly field: z.core.$ZodType
  body(...value: readonly unknown[]): Json
}

/** The object inside refinements, transformations and what drops "nothing". */
function shapeOf(schema: z.core.$ZodType | undefined): Shape | null {
  if (schema === undefined) return null
  const def = definitionOf(schema)
  if (def.shape !== undefined) return def.shape
  return shapeOf(def.innerType) ?? shapeOf(def.in) ?? shapeOf(def.out)
}

const isMissable = (field: z.core.$ZodType): boolean => z.safeParse(field, undefined).success

function fieldsOf(where: string, schema: z.ZodType, shape: Shape, path: readonly string[], body: Json): Field[] {
  const example = path.reduce<Json>((value, name) => (value[name] ?? {}) as Json, body)
  const put = (changed: Json): Json => path.reduceRight<Json>((value, name) => ({ ...body, [name]: value }), changed)
  return Object.entries(shape).flatMap(([name, field]) => {
    const { [name]: _, ...rest } = example
    const own: Field = {
      where: `${where} ${[...path, name].join('.')}`,
      path: [...path, name].join('.'),
      schema,
      optional: isMissable(field),
      field,
      body: (...value) => put(value.length === 0 ? rest : { ...rest, [name]: value[0] }),
    }
    const inside = shapeOf(field)
    return [own, ...(inside === null ? [] : fieldsOf(where, schema, inside, [...path, name], body))]
  })
}

const FIELDS = ROUTES.flatMap(({ operationId, body }) => {
  if (body === undefined) return []
  const { schema, example, testSchema } = body as typeof body & { readonly testSchema?: z.ZodType }
  return [schema, ...(testSchema === undefined ? [] : [testSchema])].flatMap((one, index) => {
    const shape = shapeOf(one)
    if (shape === null) throw new Error(`${operationId} takes no object`)
    return fieldsOf(`${operationId}${index === 0 ? '' : ' of a test key'}`, one, shape, [], example as Json)
  })
})
const OPTIONAL = FIELDS.filter(({ optional }) => optional)
const REQUIRED = FIELDS.filter(({ optional }) => !optional)

/** What the schema makes of a body, or the faults that an answer would list. */
function outcome(schema: z.ZodType, body: unknown): unknown {
  try {
    return { accepted: JSON.parse(JSON.stringify(validate(schema, body), (_, value) => printed(value))) }
  } catch (error) {
    return { refused: (error as { details?: unknown }).details }
  }
}
const printed = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

const messagesOf = (schema: z.ZodType, body: unknown, path: string): string[] => {
  const { refused = [] } = outcome(schema, body) as { refused?: { path: string; message: string }[] }
  return refused
    .filter((detail) => detail.path === path || detail.path.startsWith(`${path}.`))
    .map((one) => one.message)
}

/** Words of the library about its types, and anything that does not continue the name of the field as a sentence. */
const SPEECH = /expected|received|invalid|too (big|small|long|short)|regex|pattern|NaN|undefined|>=|<=/i
const SENTENCE = /^(must|is|has|the key|the port|a (live|test) key|localhost is) /

const documented = (field: Field): ReturnType<typeof documentValidator> => {
  const operation = Object.values(OPENAPI_DOCUMENT.paths as Record<string, Record<string, Json>>)
    .flatMap((item) => Object.values(item))
    .find(({ operationId }) => field.where.startsWith(`${operationId} `)) as { requestBody: { content: Json } }
  return documentValidator((operation.requestBody.content['application/json'] as { schema: Json }).schema)
}

test('there are fields to try', () => {
  expect(OPTIONAL.length).toBeGreaterThan(25)
  expect(REQUIRED.length).toBeGreaterThan(12)
})

// Guarantee: a value that means "nothing" never decides whether a request is taken, in whatever language it was written.
describe.each(OPTIONAL)('$where', (field) => {
  const absent = outcome(field.schema, field.body())
  it.each([null, '', ...(shapeOf(field.field) === null && !field.path.startsWith('metadata') ? [] : [[]])])(
    'is missing when it is %j',
    (nothing) => {
      expect(outcome(field.schema, field.body(nothing))).toEqual(
        field.path === 'metadata' && Array.isArray(nothing) ? withMetadata(absent) : absent,
      )
    },
  )

  it('may be null in the document', () => {
    expect(documented(field)(field.body(null))).toEqual([])
  })
})

/** An empty map is stored as no map is. */
const withMetadata = (absent: unknown): unknown => ({
  accepted: { ...(absent as { accepted: Json }).accepted, metadata: {} },
})

describe.each(REQUIRED)('$where', ({ schema, body, path }) => {
  it.each([null, ''])('is still required when it is %j', (nothing) => {
    expect(messagesOf(schema, body(nothing), path)).not.toEqual([])
  })
})

// Guarantee: what an honest shop sends by mistake gets a message in the reader's words.
describe.each(FIELDS)('the refusal of a wrong $where', ({ schema, body, path }) => {
  const wrong = [
    1001,
    -1,
    1.5,
    true,
    'x'.repeat(3_000),
    '\u0000',
    ' ',
    {},
    { $gt: '' },
    ['x', 1],
    [null],
    'maybe',
    '600',
    10 ** 9,
  ]
  it('names the rule', () => {
    const messages = [...wrong.map((value) => body(value)), body()].flatMap((value) => messagesOf(schema, value, path))
    expect(messages.filter((message) => SPEECH.test(message) || !SENTENCE.test(message))).toEqual([])
  })
})

describe('an operation without parameters', () => {
  it.each([undefined, null, {}, []])('takes %j', (body) => {
    expect(emptyBody.safeParse(body).success).toBe(true)
  })
  it.each([['x'], { reason: 'x' }, 'x', 1])('refuses %j', (body) => {
    expect(emptyBody.safeParse(body).success).toBe(false)
  })
})
