import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiAnswer, openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

interface Header {
  readonly schema: { readonly type: 'integer' | 'string' }
}

/** Headers that belong to HTTP and to the hardening of every answer, and not to the interface. */
const PLAIN = new Set([
  ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive'],
  ...['referrer-policy', 'strict-transport-security', 'vary', 'x-content-type-options'],
])
/** Documented headers that only some answers of their status carry. */
const SOMETIMES = new Set(['Idempotent-Replayed'])
const MISSING = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e3f'
const BODY = { amount: '25.00', currency: 'USD' }

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'))
const stores = useStores()
let api: TestApi

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

function resolve<T>(value: T | { readonly $ref: string }): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((node, part) => node[part], document)
}

/** Headers that the document promises for an answer of an operation. */
function promised(method: string, path: string, status: number): Readonly<Record<string, Header>> {
  const { headers } = resolve<{ headers: Record<string, Header> }>(
    document.paths[path][method.toLowerCase()].responses[status],
  )
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, resolve<Header>(header)]))
}

/** Compares what was sent with what the document promises: every promise kept, nothing beyond. */
function expectPromised({ status, headers }: ApiAnswer, method: string, path: string): void {
  const promises = promised(method, path, status)
  for (const [name, { schema }] of Object.entries(promises)) {
    const value = headers.get(name)
    if (value === null && SOMETIMES.has(name)) continue
    const read = schema.type === 'integer' ? Number(value ?? 'missing') : value
    expect(
      z.fromJSONSchema(schema as never).safeParse(read).error?.issues ?? [],
      `${status} ${name}: ${value}`,
    ).toEqual([])
  }
  expect(Object.keys(promises)).toContain('X-RateLimit-Remaining')
  const known = new Set(Object.keys(promises).map((name) => name.toLowerCase()))
  expect([...headers.keys()].filter((name) => !known.has(name) && !PLAIN.has(name))).toEqual([])
}

it.each([
  ['GET', '/invoices', {}, 200],
  ['GET', '/invoices', { key: null }, 401],
  ['GET', '/invoices/{id}', {}, 404],
  ['DELETE', '/webhook-endpoints/{id}', {}, 404],
  ['POST', '/invoices', { body: BODY }, 201],
  ['POST', '/invoices', { body: {} }, 400],
  ['POST', '/invoices', { body: `"${'x'.repeat(256 * 1024)}"` }, 413],
  ['POST', '/invoices', { body: 'a=b', headers: { 'content-type': 'text/plain' } }, 415],
] as const)('%s %s keeps its promises with %j', async (method, path, request, status) => {
  const answer = await api.call(method, path.replace('{id}', MISSING), request)
  expect(answer.status).toBe(status)
  expectPromised(answer, method, path)
})

it('keeps them for repetitions: of a success, of a stored refusal, and with another body', async () => {
  const send = (path: string, key: string, body?: object) =>
    api.call('POST', path, { body, headers: { 'idempotency-key': key } })
  await send('/invoices', 'k-1', BODY)
  const repeated = await send('/invoices', 'k-1', BODY)
  expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
  expectPromised(repeated, 'POST', '/invoices')

  const other = await send('/invoices', 'k-1', { ...BODY, amount: '26.00' })
  expect(other.status).toBe(409)
  expectPromised(other, 'POST', '/invoices')

  const cancel = `/invoices/${MISSING}/cancel`
  await send(cancel, 'k-2')
  const refused = await send(cancel, 'k-2')
  expect(refused.status).toBe(404)
  expectPromised(refused, 'POST', '/invoices/{id}/cancel')
})

it('keeps them for the wrong scope and for a flood', async () => {
  const { apiKey } = await api.newKey('test', ['rates:read'])
  const forbidden = await api.call('POST', '/products', { key: apiKey, body: {} })
  expect(forbidden.status).toBe(403)
  expectPromised(forbidden, 'POST', '/products')

  const flood = Array.from({ length: 150 }, () => api.call('GET', '/rates', { key: apiKey }))
  const limited = (await Promise.all(flood)).find(({ status }) => status === 429)
  if (limited === undefined) throw new Error('nothing was refused')
  expectPromised(limited, 'GET', '/rates')
})
