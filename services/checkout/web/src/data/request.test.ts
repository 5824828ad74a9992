import { afterEach, expect, test, vi } from 'vitest'
import { OFFLINE, request } from './request.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

const HTML = '<!doctype html><title>Sorry</title>'
const limited = (retryAfter: number | null) => ({ code: 'RATE_LIMITED', status: 429, retryAfter, paths: [] })

// Guarantee: a page that is not ours, and stands where an answer was to come, is no answer; too many requests are told apart from no connection.
test.each([
  ['a log-in page of a network', 200, HTML, {}, OFFLINE],
  ['a proxy that has nothing to say', 200, 'null', {}, { ...OFFLINE, status: 200 }],
  ['a page of a proxy whose server is away', 502, HTML, { 'retry-after': '5' }, OFFLINE],
  ['a page of a proxy that finds nothing', 404, HTML, {}, OFFLINE],
  ['a page of a proxy that limits requests', 429, HTML, { 'retry-after': '30' }, limited(30)],
  ['a limit without a time', 429, '', {}, limited(null)],
])('%s (%i)', async (_what, status, body, headers, problem) => {
  vi.stubGlobal('fetch', async () => new Response(body, { status, headers }))
  expect(await request('/i/1')).toEqual({ ok: false, problem })
  expect(await request('/i/1/asset', { body: {} })).toEqual({ ok: false, problem })
})

test('an error of our server is read', async () => {
  const error = { code: 'VALIDATION_ERROR', details: [{ path: 'amount' }] }
  vi.stubGlobal('fetch', async () => Response.json({ error }, { status: 400 }))
  const problem = { code: 'VALIDATION_ERROR', status: 400, retryAfter: null, paths: ['amount'] }
  expect(await request('/l/1', { body: {} })).toEqual({ ok: false, problem })
})
