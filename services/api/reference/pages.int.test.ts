import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import { createOpenApiDocument } from './document.ts'

const stores = useStores()
let api: TestApi
const PUBLIC = 'https://api.shop.example'

const SECRET = 'beside the pages'
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-reference-'))
  const pagesDir = join(folder, 'pages')
  mkdirSync(join(pagesDir, 'reference/assets'), { recursive: true })
  writeFileSync(join(pagesDir, 'reference/index.html'), '<!doctype html><title>Paymesh API reference</title>')
  writeFileSync(join(pagesDir, 'reference/assets/main-1a2b.js'), 'void 0')
  writeFileSync(join(folder, 'secret.txt'), SECRET)
  api = await openApi(stores, { deps: () => ({ publicUrl: PUBLIC, pagesDir }) })
})
afterAll(async () => {
  await api.close()
  rmSync(folder, { recursive: true, force: true })
})

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
  // Guarantee: nothing on this page runs or loads but what this origin serves, and no other page can frame it.
  it('allows files of its own origin and no text as a script or style', async () => {
    const answer = await get('/docs')
    expect(await answer.text()).toContain('<title>Paymesh API reference</title>')
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
  })

  it('has its files cached for a year, because their names change with their content', async () => {
    const { status, headers } = await get('/docs/assets/main-1a2b.js')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  })

  // Guards secrets: a path does not lead out of the folder of the built files.
  it.each([
    '/docs/assets/nothing.js',
    '/docs/assets/',
    '/docs/assets/..%2f..%2f..%2fsecret.txt',
    '/docs/assets/%2e%2e/%2e%2e/%2e%2e/secret.txt',
    '/docs/assets/..%5c..%5c..%5csecret.txt',
    '/docs/assets/%00',
    '/docs/assets/%zz',
    '/docs/index.html',
  ])('answers %s as a path that does not exist', async (path) => {
    const answer = await get(path)
    const text = await answer.text()
    expect([answer.status, text.includes(SECRET)]).toEqual([404, false])
    expect(JSON.parse(text)).toMatchObject({ data: null, error: { code: 'NOT_FOUND' } })
  })

  it('takes no POST on its files', async () => {
    const answer = await get('/docs/assets/main-1a2b.js', { method: 'POST', body: 'x' })
    expect(answer.status).toBe(404)
  })

  it('is a path that does not exist where the pages were not built', async () => {
    const bare = await openApi(stores, { deps: () => ({ pagesDir: null }) })
    try {
      expect((await fetch(`${bare.baseUrl}/docs`)).status).toBe(404)
      expect((await fetch(`${bare.baseUrl}/openapi.json`)).status).toBe(200)
    } finally {
      await bare.close()
    }
  })
})

it('costs tokens like any request: the flood of one address is refused', async () => {
  const flood = Array.from({ length: 150 }, () => get('/docs', { method: 'HEAD' }))
  const refused = (await Promise.all(flood)).find(({ status }) => status === 429)
  expect(refused?.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
})
