interface Operation {
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly in?: string; readonly name?: string; readonly description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> }
}

/** What is read of the OpenAPI document. */
export interface Paths {
  readonly [path: string]: Readonly<Record<string, Operation>>
}

/**
 * A Postman collection (v2.1.0 of its format) with every operation in a folder of its tag. Address and key are variables of the collection;
 * a POST gets a new idempotency key each time it is sent.
 */
export function postmanCollection(paths: Paths): string {
  const folders = new Map<string, object[]>()
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const [tag = ''] = operation.tags
      folders.set(tag, [...(folders.get(tag) ?? []), requestOf(path, method.toUpperCase(), operation)])
    }
  }
  const collection = {
    info: {
      name: 'Paymesh',
      description: 'Generated from docs/openapi.json by `npm run gen:client`. Set base_url (with /api/v1) and api_key.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    variable: [
      { key: 'base_url', value: 'http://localhost:3000/api/v1' },
      { key: 'api_key', value: '' },
    ],
    item: [...folders].map(([name, requests]) => ({ name, item: requests })),
  }
  return `${JSON.stringify(collection, null, 2)}\n`
}

function requestOf(path: string, method: string, { summary, parameters = [], requestBody }: Operation): object {
  const example = requestBody?.content['application/json']?.example
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, description }) => ({ key: name, value: '', description, disabled: true }))
  const names = path.slice(1).split('/')
  const url = {
    raw: `{{base_url}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    host: ['{{base_url}}'],
    path: names.map((name) => name.replace(/^\{(\w+)\}$/, ':$1')),
    ...(path.includes('{id}') && { variable: [{ key: 'id', value: '' }] }),
    ...(query.length > 0 && { query }),
  }
  const header = [
    ...(method === 'POST' ? [{ key: 'Idempotency-Key', value: '{{$guid}}' }] : []),
    ...(example === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
  ]
  const body = example === undefined ? {} : { body: { mode: 'raw', raw: JSON.stringify(example, null, 2) } }
  return { name: summary, request: { method, header, url, ...body } }
}
