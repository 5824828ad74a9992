import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { nameOf, OPERATIONS } from '#test/contract/operations.ts'
import { type Citation, citationProblem } from '#test/support/citations.ts'

interface Shape {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly allOf?: readonly Shape[]
}
interface StatedOperation {
  readonly parameters?: readonly ({ readonly name: string } & Shape)[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> }
}
const document = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, StatedOperation>>>>
}

function resolved<T extends Shape>(shape: T): T {
  const path = shape.$ref?.slice(2).split('/') ?? []
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document of any shape
  return shape.$ref === undefined ? shape : resolved(path.reduce((at: any, name) => at[name], document))
}

function namesIn(shape: Shape): readonly string[] {
  const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = resolved(shape)
  return [...Object.keys(properties), ...[...anyOf, ...oneOf, ...allOf].flatMap(namesIn)]
}

/** Every part of a request that can name something, as `GET /payments invoice_id`. */
const NAMED = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => {
    const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
    const names = [...parameters.map((one) => resolved(one).name), ...bodies.flatMap(namesIn)]
    return [...new Set(names)]
      .filter((name) => /(^|_)ids?$|^cursor$|-Key$/.test(name))
      .map((name) => `${method.toUpperCase()} ${path} ${name}`)
  }),
)

/** The tests that try it as another workspace's. */
const TRIED: readonly (readonly [RegExp, Citation])[] = [
  [/\{id\}\S* id$/, ['test/contract/unknown-resources.int.test.ts', 'leaves what it names untouched']],
  [
    /^POST \/payment-links product_id$/,
    ['test/contract/unknown-resources.int.test.ts', 'POST /payment-links on a product'],
  ],
  [/^GET \/payments invoice_id$/, ['test/contract/unknown-resources.int.test.ts', 'GET /payments of an invoice']],
  [/ cursor$/, ['test/contract/lists.int.test.ts', 'refuses a cursor of another list, workspace or mode']],
  [
    / Idempotency-Key$/,
    ['services/api/operations/create-invoice.int.test.ts', 'keeps keys apart by workspace and mode'],
  ],
]
/** Texts of the merchant, which name nothing that is stored under them. */
const WORDS = ['GET /invoices order_id', 'POST /invoices order_id']

// Guarantee: no operation takes an id that nobody tried as another workspace's.
it('every part of a REST request that names something is tried as another workspace’s', () => {
  expect(NAMED.length).toBeGreaterThan(20)
  expect(NAMED.filter((name) => !WORDS.includes(name) && !TRIED.some(([form]) => form.test(name)))).toEqual([])
  for (const [form, citation] of TRIED) {
    expect(
      NAMED.some((name) => form.test(name)),
      String(form),
    ).toBe(true)
    expect(citationProblem(citation)).toBeNull()
  }
})

it('the table of unknown resources has every operation with an id', () => {
  const withId = NAMED.filter((name) => name.endsWith('} id') || /\{id\}\S* id$/.test(name))
  const listed = OPERATIONS.filter(({ resource }) => resource !== undefined).map((one) => `${nameOf(one)} id`)
  expect(withId.toSorted()).toEqual(listed.toSorted())
})

it('REST has no operation on deliveries, recoveries or files', () => {
  const paths = Object.keys(document.paths).join(' ')
  for (const word of ['deliver', 'recover', 'resend', 'export', 'csv']) expect(paths).not.toContain(word)
})
