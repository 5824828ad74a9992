import { describe, expect, it } from 'vitest'
import { errorCodes } from '#shared/contracts/openapi/operation.ts'
import { successExample } from '#shared/contracts/openapi/success-schema.ts'
import type { Route } from '../route.ts'
import { ROUTES } from '../routes.ts'
import { createAnswerCheck } from './execute.ts'

const REQUEST_ID = 'req_01920a5e4c7b7d3a9f216b8f0c1d2e40'
const failure = (code: string, more: object = {}) =>
  JSON.stringify({ data: null, error: { code, message: 'Text.', ...more }, request_id: REQUEST_ID })

function route(method: Route['method'], path: string): Route {
  const found = ROUTES.find((candidate) => candidate.method === method && candidate.path === path)
  if (found === undefined) throw new Error(`no route ${method} ${path}`)
  return found
}

function example(operationId: string): { data: Record<string, unknown> } {
  const operation = ROUTES.find(({ operationId: id }) => id === operationId)
  if (operation === undefined) throw new Error(`no operation ${operationId}`)
  return successExample(operation.success, false) as { data: Record<string, unknown> }
}

describe('successes', () => {
  const check = createAnswerCheck(route('POST', '/invoices'))
  const good = example('createInvoice')
  const wrong = (change: object, more: object = {}) =>
    check(201, JSON.stringify({ ...good, data: { ...good.data, ...change }, ...more }))?.message

  it('accepts what the document shows', () => {
    expect(check(201, JSON.stringify(good))).toBeNull()
  })

  it('names a missing field, a wrong type, a field too many and a wrong envelope', () => {
    expect(wrong({ number: undefined })).toContain('data.number')
    expect(wrong({ number: '7' })).toContain('data.number')
    expect(wrong({ status: 'cooking' })).toContain('data.status')
    expect(wrong({ secret: 'x' })).toContain('secret')
    expect(wrong({}, { meta: null })).toContain('meta')
    expect(check(201, 'no JSON')?.message).toContain('expected object')
  })

  it('refuses another status of success', () => {
    expect(check(200, JSON.stringify(good))?.message).toBe('createInvoice must not answer 200')
  })
})

describe('errors', () => {
  const check = createAnswerCheck(route('GET', '/invoices'))

  it.each(ROUTES.map((row) => [`${row.method} ${row.path}`, row] as const))(
    '%s may answer what it declares',
    (_, row) => {
      expect([...errorCodes(row)]).toContain('UNAUTHENTICATED')
      expect(createAnswerCheck(row)(401, failure('UNAUTHENTICATED'))).toBeNull()
    },
  )

  it('refuses a code that the operation does not declare, and one that nobody knows', () => {
    expect(check(409, failure('INVALID_STATE'))?.message).toBe('INVALID_STATE is not declared for this operation')
    expect(check(418, failure('TEAPOT'))?.message).toContain('error.code')
  })

  it('refuses a code under the status of another one, the transport faults excepted', () => {
    expect(check(404, failure('VALIDATION_ERROR'))?.message).toBe('VALIDATION_ERROR must not be answered with 404')
    const anywhere = createAnswerCheck(null)
    expect(anywhere(405, failure('NOT_FOUND'))).toBeNull()
    expect(anywhere(413, failure('VALIDATION_ERROR'))).toBeNull()
    expect(anywhere(415, failure('VALIDATION_ERROR'))).toBeNull()
    expect(anywhere(413, failure('NOT_FOUND'))?.message).toContain('must not be answered with 413')
  })

  it('refuses internals in the envelope', () => {
    expect(check(500, failure('INTERNAL_ERROR', { stack: 'at x' }))?.message).toContain('stack')
  })
})
