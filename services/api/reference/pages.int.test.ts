import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import { createOpenApiDocument } from './document.ts'

const stores = useStores()
let api: TestApi
const PUBLIC = 'https://api.shop.example'

beforeAll(async () => {
  api = await openApi(stores, { deps: () => ({ publicUrl: PUBLIC }) })
})
afterAll(() => api.close())

const get = (path: string, init: RequestInit = {}) => fetch(api.baseUrl + path, init)

describe.each(['/openapi.json', '/docs'])('%s', (path) => {
  it('needs no key, ignores a wrong one, and has the rate headers of its caller', async () => {
    const first = await get(path)
    const second = await get(path, { headers: { authorization: 'Bearer pm_test_wrong' } })
    expect([first.status, second.status]).toEqual([200, 200])
    expect(first.headers.get('x-ratelimit-limit')).toBe('120')
    expect(Number(first.headers.get('x-ratelimit-remaining'))).toBeLessThan(60)
    expect(Number(first.headers.get('x-ratelimit-reset'))).toBeGreaterThan(1_700_000_000)
    expect(await second.text()).toBe(await first.text())
  })

  it('is kept by nobody but the caller, and for what it is', async () => {
    const { headers } = await get(path)
    expect(headers.get('cache-control')).toBe('private, max-age=300')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  it('answers HEAD, and other methods with 405', async () => {
    const head = await get(path, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await get(path, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

describe('the OpenAPI document', () => {
  it('is the one of docs/openapi.json, on the public address', async () => {
    const answer = await get('/openapi.json')
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const expected = JSON.parse(JSON.stringify(createOpenApiDocument()))
    expected.servers[0].url = `${PUBLIC}/api/v1`
    expect(await answer.json()).toEqual(expected)
  })
})

describe('the reference page', () => {
  // Guarantee: a browser runs no script on this page and loads nothing for it, whatever the page contains.
  it('allows its own style by digest and nothing else', async () => {
    const answer = await get('/docs')
    const text = await answer.text()
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
    const digest = createHash('sha256').update(style).digest('base64')
    expect(answer.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(text).not.toMatch(/ style=/)
  })

  it('shows requests to the public address', async () => {
    expect(await (await get('/docs')).text()).toContain(`${PUBLIC}/api/v1/invoices`)
  })
})

it('costs tokens like any request: the flood of one address is refused', async () => {
  const flood = Array.from({ length: 150 }, () => get('/docs', { method: 'HEAD' }))
  const refused = (await Promise.all(flood)).find(({ status }) => status === 429)
  expect(refused?.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
})
