import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import type { Span } from '#shared/ports/runtime.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import { expectRateHeaders } from './rate-headers.fixture.ts'

const stores = useStores()
let api: TestApi

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

/** Sends bytes as they are and collects everything until the server closes. */
function sendRaw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => socket.write(bytes))
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString()
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

describe('the envelope and the rate headers', () => {
  const cases: readonly (readonly [string, string, object, number, string])[] = [
    ['GET', '/invoices', {}, 200, ''],
    ['GET', '/invoices', { key: null }, 401, 'UNAUTHENTICATED'],
    ['GET', '/nothing', {}, 404, 'NOT_FOUND'],
    ['GET', '/nothing', { key: null }, 404, 'NOT_FOUND'],
    ['GET', '/../../etc/passwd', {}, 404, 'NOT_FOUND'],
    ['PUT', '/invoices', {}, 405, 'NOT_FOUND'],
    ['OPTIONS', '/invoices', {}, 405, 'NOT_FOUND'],
    ['POST', '/invoices', { body: '{' }, 400, 'VALIDATION_ERROR'],
    ['POST', '/invoices', { body: 'a=b', headers: { 'content-type': 'text/plain' } }, 415, 'VALIDATION_ERROR'],
    [
      'POST',
      '/invoices',
      { body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
      415,
      'VALIDATION_ERROR',
    ],
    ['POST', '/invoices', { body: '{}', headers: { 'content-encoding': 'gzip' } }, 415, 'VALIDATION_ERROR'],
    ['POST', '/invoices', { body: `"${'x'.repeat(256 * 1024)}"` }, 413, 'VALIDATION_ERROR'],
    ['POST', '/invoices', { body: `${'['.repeat(100_000)}` }, 400, 'VALIDATION_ERROR'],
    ['POST', '/invoices', { body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }, 400, 'VALIDATION_ERROR'],
  ]
  it.each(cases)('%s %s %j is %i %s', async (method, path, request, status, code) => {
    const answer = await api.call(method, path, request)
    expect([answer.status, answer.json.error?.code ?? '']).toEqual([status, code])
    expect(answer.json.request_id).toMatch(/^req_/)
    expect(Object.keys(answer.json)).toEqual(
      code === '' ? ['data', 'meta', 'error', 'request_id'] : ['data', 'error', 'request_id'],
    )
    expectRateHeaders(answer)
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  it.each([
    ['a list', 'GET', '/invoices', 200],
    ['an unknown path', 'GET', '/nothing', 404],
    ['no key', 'GET', '/invoices', 401],
  ] as const)('tells browsers to guess no type and to come back with TLS: %s', async (what, method, path, status) => {
    const answer = await api.call(method, path, what === 'no key' ? { key: null } : {})
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  // Guarantee: what a key may read is in no shared cache and on no page of another origin.
  it.each([
    ['a list', 'GET', '/invoices'],
    ['no key', 'GET', '/invoices'],
    ['an unknown path', 'GET', '/nothing'],
    ['a question before', 'OPTIONS', '/invoices'],
  ] as const)('lets nobody keep an answer, and no page of another origin read one: %s', async (what, method, path) => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const answer = await api.call(method, path, { headers, ...(what === 'no key' && { key: null }) })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    if (method === 'OPTIONS') expect(answer.status).toBeGreaterThanOrEqual(400)
  })

  it('names the allowed methods', async () => {
    expect((await api.call('PATCH', '/invoices')).headers.get('allow')).toBe('GET, HEAD, POST')
    expect((await api.call('GET', '/test/invoices/x/simulate')).headers.get('allow')).toBe('POST')
  })

  it('answers HEAD like GET, without a body', async () => {
    const { status, text, headers } = await api.call('HEAD', '/invoices')
    expect([status, text]).toEqual([200, ''])
    expectRateHeaders({ headers })
  })

  it('keeps the envelope for a body that is larger than it said, in chunks', async () => {
    const head = `POST /api/v1/invoices HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${api.testKey}\r\n`
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
    const answer = await sendRaw(
      `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(9)}0\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('"code":"VALIDATION_ERROR"')
  })

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['a header of 20 KB', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no Host', 'GET /api/v1/invoices HTTP/1.1\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
  ])('keeps the envelope for %s', async (_name, bytes, status) => {
    const answer = await sendRaw(bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toContain('X-RateLimit-Limit: 120')
    expect(answer).toMatch(/"request_id":"req_\w+"}$/)
  })
})

describe('authentication', () => {
  // Guarantee: nothing about a request is checked before its key is, not even a path that cannot be decoded.
  it.each(['/invoices/%zz', '/invoices/%ff', '/invoices/%E0%A4%A'])(
    'comes before the broken escape in %s',
    async (path) => {
      const stranger = await api.call('GET', path, { key: null })
      expect([stranger.status, stranger.json.error.code]).toEqual([401, 'UNAUTHENTICATED'])
      const scoped = await api.call('GET', path, { key: (await api.newKey('test', ['payments:read'])).apiKey })
      expect([scoped.status, scoped.json.error.code]).toEqual([403, 'FORBIDDEN_SCOPE'])
      const { status, json } = await api.call('GET', path)
      expect([status, json.error.details[0].path]).toEqual([400, 'id'])
      expect((await api.call('PUT', path)).headers.get('allow')).toBe('GET, HEAD')
    },
  )

  it.each([
    ['no scheme', (key: string) => key],
    ['another scheme', (key: string) => `Basic ${key}`],
    ['another key', () => `Bearer pm_test_${'a'.repeat(38)}`],
    ['a changed key', (key: string) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['a key of the other mode', (key: string) => `Bearer ${key.replace('pm_test_', 'pm_live_')}`],
    ['nothing', () => 'Bearer '],
    ['an object', () => 'Bearer [object Object]'],
  ])('refuses %s', async (_name, header) => {
    const answer = await api.call('GET', '/invoices', { key: null, headers: { authorization: header(api.testKey) } })
    expect([answer.status, answer.json.error.code]).toEqual([401, 'UNAUTHENTICATED'])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  it('takes the scheme in any case', async () => {
    const headers = { authorization: `bearer ${api.testKey}` }
    expect((await api.call('GET', '/invoices', { key: null, headers })).status).toBe(200)
  })

  it('notes that a key was used, and not that somebody tried one that is revoked', async () => {
    const [used, revoked, idle] = [await api.newKey('test'), await api.newKey('test'), await api.newKey('test')]
    await api.revoke(revoked.record.id)
    expect((await api.call('GET', '/invoices', { key: used.apiKey })).status).toBe(200)
    expect((await api.call('GET', '/invoices', { key: revoked.apiKey })).status).toBe(401)
    await api.deps.keyUse.close()
    const keys = await createApiKeyRepository(stores.db).list(used.record.workspaceId)
    const usedAt = ({ record }: typeof used) => keys.find(({ id }) => id === record.id)?.lastUsedAt
    expect(usedAt(used)).toBeTypeOf('number')
    expect([usedAt(revoked), usedAt(idle)]).toEqual([undefined, undefined])
  })

  // Guarantee: a revoked key stops at the very next request, although its record was cached a moment ago.
  it('stops a revoked key at its next request', async () => {
    const { record, apiKey } = await api.newKey('test')
    for (let i = 0; i < 3; i += 1) expect((await api.call('GET', '/invoices', { key: apiKey })).status).toBe(200)
    await api.revoke(record.id)
    expect((await api.call('GET', '/invoices', { key: apiKey })).status).toBe(401)
  })

  // Guarantee: a suspension counts from the next request, before scope and mode are looked at.
  it('stops a suspended workspace at its next request', async () => {
    const workspace = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', ['payments:read'], workspace.id)
    expect((await api.call('GET', '/payments', { key: apiKey })).status).toBe(200)
    await api.updateWorkspace(workspace.id, { status: 'suspended' })
    for (const path of ['/payments', '/invoices']) {
      const { status, json } = await api.call('GET', path, { key: apiKey })
      expect([status, json.error.code]).toEqual([403, 'WORKSPACE_SUSPENDED'])
    }
    await api.updateWorkspace(workspace.id, { status: 'active' })
    expect((await api.call('GET', '/payments', { key: apiKey })).status).toBe(200)
  })
})

describe('a store that fails', () => {
  it('answers 500 in the envelope and tells nothing of the inside', async () => {
    const broken = await openApi(stores, {
      deps: ({ invoices }) => ({
        invoices: { ...invoices, list: () => Promise.reject(new Error('secret inside: mongodb://root:pw@db')) },
      }),
    })
    try {
      const answer = await broken.call('GET', '/invoices')
      expect([answer.status, answer.json.error]).toEqual([500, { code: 'INTERNAL_ERROR', message: expect.any(String) }])
      expect(answer.text).not.toContain('inside')
      expectRateHeaders(answer)
    } finally {
      await broken.close()
    }
  })
})

// Guarantee: a caller with a key gets its request into its own trace; nobody else decides what is recorded.
it('passes on where a caller stands in its trace, for callers with a key alone', async () => {
  const parents: unknown[] = []
  const tracer = { record: (span: Span) => void parents.push(span.parent) }
  const traced = await openApi(stores, { deps: () => ({ tracer }) })
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const traceparent = `00-${traceId}-${spanId}-01`
  try {
    await traced.call('GET', '/invoices', { headers: { traceparent } })
    await traced.call('GET', '/invoices', { headers: { traceparent }, key: null })
    await traced.call('GET', '/invoices', { headers: { traceparent: `${traceparent}-x` } })
    expect(parents).toEqual([{ traceId, spanId, isSampled: true }, null, null])
  } finally {
    await traced.close()
  }
})
