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
  ['a proxy that has nothing to say', 200, 'null', {}, OFFLINE],
  ['a proxy with JSON of its own', 200, '{}', {}, OFFLINE],
  ['a proxy with fields of ours and nothing in them', 200, '{"view":null}', {}, OFFLINE],
  ['a proxy with a list', 200, '[{"view":1}]', {}, OFFLINE],
  ['a proxy that refuses in JSON', 403, '{"message":"Forbidden"}', {}, OFFLINE],
  ['a proxy whose error is a word', 400, '{"error":"Bad Request"}', { 'retry-after': '5' }, OFFLINE],
  ['a page of a proxy whose server is away', 502, HTML, { 'retry-after': '5' }, OFFLINE],
  ['a page of a proxy that finds nothing', 404, HTML, {}, OFFLINE],
  ['a page of a proxy that limits requests', 429, HTML, { 'retry-after': '30' }, limited(30)],
  ['a limit without a time', 429, '', {}, limited(null)],
  ['a limit of three years', 429, HTML, { 'retry-after': '99999999' }, limited(null)],
])('%s (%i)', async (_what, status, body, headers, problem) => {
  vi.stubGlobal('fetch', async () => new Response(body, { status, headers }))
  expect(await request<{ view: object }>('/i/1', 'view')).toEqual({ ok: false, problem })
  expect(await request<{ view: object }>('/i/1/asset', 'view', { body: {} })).toEqual({ ok: false, problem })
})

test('an error of our server is read', async () => {
  const error = { code: 'VALIDATION_ERROR', details: [{ path: 'amount' }] }
  vi.stubGlobal('fetch', async () => Response.json({ error }, { status: 400 }))
  const problem = { code: 'VALIDATION_ERROR', status: 400, retryAfter: null, paths: ['amount'] }
  expect(await request<{ link: object }>('/l/1', 'link', { body: {} })).toEqual({ ok: false, problem })
})
