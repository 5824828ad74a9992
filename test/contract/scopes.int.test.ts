import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '#services/api/routes.ts'
import { SCOPES, type Scope } from '#shared/domain/enumerations.ts'
import type { TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { openContractApi, outcome, send } from './contract-stage.ts'
import { NAMED_OPERATIONS, nameOf, OPERATIONS } from './operations.ts'

const stores = useStores()
let api: TestApi
const keys = new Map<Scope, string>()

beforeAll(async () => {
  api = await openContractApi(stores)
  for (const scope of SCOPES) keys.set(scope, (await api.newKey('test', [scope])).apiKey)
})
afterAll(() => api.close())

describe('the list of operations', () => {
  it('is the one of the specification, with its scopes and special rules', () => {
    expect(OPERATIONS).toHaveLength(19)
    const shape = (
      rows: readonly Pick<(typeof OPERATIONS)[number], 'method' | 'path' | 'scope' | 'restricted' | 'testOnly'>[],
    ) =>
      rows
        .map(({ method, path, scope, restricted = false, testOnly = false }) => ({
          name: nameOf({ method, path }),
          scope,
          restricted,
          testOnly,
        }))
        .sort((one, other) => one.name.localeCompare(other.name))
    expect(shape(ROUTES)).toEqual(shape(OPERATIONS))
  })
})

// Guarantee: a key does exactly what its scopes name. Every cell of 19 operations × 9 scopes is tried.
describe.each(NAMED_OPERATIONS)('%s', (_name, operation) => {
  it.each(SCOPES)('with nothing but %s', async (scope) => {
    const answer = await send(api, operation, { key: keys.get(scope) ?? '' })
    // With the right scope the unknown id is the next thing that is wrong.
    const passed = operation.resource === undefined ? [operation.success, ''] : [404, 'NOT_FOUND']
    expect(outcome(answer)).toEqual(scope === operation.scope ? passed : [403, 'FORBIDDEN_SCOPE'])
  })
})

/** Authorization headers that hold no key, or no valid one. */
const MALFORMED: readonly (readonly [string, (key: string) => string])[] = [
  ['empty', () => ''],
  ['the key alone', (key) => key],
  ['the scheme alone', () => 'Bearer'],
  ['the scheme and a space', () => 'Bearer '],
  ['another scheme', (key) => `Basic ${key}`],
  ['basic credentials', (key) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
  ['the scheme misspelt', (key) => `Bearer: ${key}`],
  ['no space', (key) => `Bearer${key}`],
  ['a tab for the space', (key) => `Bearer\t${key}`],
  ['the scheme twice', (key) => `Bearer Bearer ${key}`],
  ['two keys', (key) => `Bearer ${key} ${key}`],
  ['two credentials', (key) => `Bearer ${key}, Bearer ${key}`],
  ['quotes', (key) => `Bearer "${key}"`],
  ['a comma behind', (key) => `Bearer ${key},`],
  ['a parameter', (key) => `Bearer token=${key}`],
  ['a key that is cut', (key) => `Bearer ${key.slice(0, -1)}`],
  ['a key that goes on', (key) => `Bearer ${key}0`],
  ['a changed check sum', (key) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
  ['a changed secret', (key) => `Bearer ${key.slice(0, 10)}${key[10] === 'A' ? 'B' : 'A'}${key.slice(11)}`],
  ['the prefix of the other mode', (key) => `Bearer ${key.replace('pm_test_', 'pm_live_')}`],
  ['another case', (key) => `Bearer ${key.toUpperCase()}`],
  ['no prefix', (key) => `Bearer ${key.replace('pm_test_', '')}`],
  ['another product', (key) => `Bearer ${key.replace('pm_', 'sk_')}`],
  ['letters outside ASCII', (key) => `Bearer ${key.slice(0, -1)}\u00e9`],
  ['escaped characters', (key) => `Bearer ${key.replace('_', '%5F')}`],
  ['an operator', () => 'Bearer {"$gt":""}'],
  ['an object as text', () => 'Bearer [object Object]'],
  ['null', () => 'Bearer null'],
  ['a key that never was', () => `Bearer pm_test_${'a'.repeat(38)}`],
  ['8 KB', () => `Bearer ${'a'.repeat(8_000)}`],
]

// Guarantee: without a valid key nothing is done and nothing is told, not even whether a resource exists.
describe('without a valid key', () => {
  const REFUSED = [401, 'UNAUTHENTICATED']

  it.each(NAMED_OPERATIONS)('%s refuses a missing key', async (_name, operation) => {
    const answer = await send(api, operation, { key: null })
    expect(outcome(answer)).toEqual(REFUSED)
    expect(answer.json.data).toBeNull()
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.headers.get('x-ratelimit-limit')).toBe('120')
  })

  it.each(sampleOf(NAMED_OPERATIONS, 9))('%s refuses every malformed Authorization', async (_name, operation) => {
    const taken: string[] = []
    for (const [name, header] of MALFORMED) {
      const answer = await send(api, operation, { key: null, headers: { authorization: header(api.testKey) } })
      if (`${outcome(answer)}` !== `${REFUSED}`) taken.push(`${name}: ${outcome(answer)}`)
    }
    expect(taken).toEqual([])
  })

  it.each(NAMED_OPERATIONS)('%s refuses a key in any other place', async (_name, operation) => {
    const query = `?api_key=${api.testKey}&access_token=${api.testKey}`
    const headers = { 'x-api-key': api.testKey, cookie: `api_key=${api.testKey}`, 'proxy-authorization': api.testKey }
    expect(outcome(await send(api, operation, { key: null, query, headers }))).toEqual(REFUSED)
  })

  it.each(NAMED_OPERATIONS)('%s refuses a revoked key that worked a moment ago', async (_name, operation) => {
    const { record, apiKey } = await api.newKey('test')
    expect((await send(api, operation, { key: apiKey })).status).not.toBe(401)
    await api.revoke(record.id)
    expect(outcome(await send(api, operation, { key: apiKey }))).toEqual(REFUSED)
  })
})
