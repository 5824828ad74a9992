import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PaymeshApiError, PaymeshConnectionError } from './api-error.ts'
import { createPaymesh } from './create-paymesh.ts'
import { fail, ok, type ScriptedApi, startScriptedApi } from './scripted-api.fixture.ts'

const ID = '01930000-0000-7000-8000-000000000001'
/** For clients with a `fetch` of their own. */
const OFFLINE = { apiKey: 'pm_test_example', baseUrl: 'https://pay.example/api/v1' } as const
const CREATE = { amount: '25.00', currency: 'USD' } as const

let api: ScriptedApi
beforeAll(async () => {
  api = await startScriptedApi()
})
afterAll(async () => await api.close())

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => {
      throw new Error('the call should have failed')
    },
    (error: unknown) => error,
  )
}

describe('retries', () => {
  test.each([
    ['a server fault', fail(500, 'INTERNAL_ERROR')],
    ['missing rates', fail(503, 'RATES_UNAVAILABLE')],
    ['a call that is still running', fail(409, 'IDEMPOTENCY_IN_PROGRESS')],
    ['a rate limit', fail(429, 'RATE_LIMITED')],
    ["a proxy's own error page", { status: 502, text: '<h1>Bad gateway</h1>' }],
    ['a cut connection', 'cut'],
  ] as const)('%s is tried again, for a POST and for a GET', async (_name, step) => {
    api.play(step, ok({ id: ID }))
    await api.client().invoices.create(CREATE)
    expect(api.seen).toHaveLength(2)
    api.play(step, ok({ id: ID }))
    await api.client().invoices.get(ID)
    expect(api.seen).toHaveLength(2)
  })

  test.each([
    [400, 'VALIDATION_ERROR'],
    [400, 'UNSUPPORTED_ASSET'],
    [400, 'NO_WALLET_FOR_ASSET'],
    [400, 'AMOUNT_BELOW_MINIMUM'],
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN_SCOPE'],
    [403, 'WORKSPACE_SUSPENDED'],
    [403, 'WORKSPACE_RESTRICTED'],
    [403, 'PLAN_LIMIT_REACHED'],
    [403, 'TEST_MODE_ONLY'],
    [404, 'NOT_FOUND'],
    [409, 'INVALID_STATE'],
    [409, 'IDEMPOTENCY_MISMATCH'],
  ])('%i %s is final', async (status, code) => {
    api.play(fail(status, code), ok({}))
    const error = await failureOf(api.client().invoices.create(CREATE))
    expect(error).toBeInstanceOf(PaymeshApiError)
    expect(error).toMatchObject({ status, code, retryable: false, requestId: 'req_failed' })
    expect(api.seen).toHaveLength(1)
  })

  test('the pauses double, and the last failure is the one that is thrown', async () => {
    const down = fail(503, 'RATES_UNAVAILABLE')
    api.play(down, down, down, down, down, ok({}))
    expect(await failureOf(api.client().invoices.create(CREATE))).toMatchObject({ status: 503, retryable: true })
    expect(api.pausesMs).toEqual([125, 250, 500, 1_000])
    expect(api.seen).toHaveLength(5)
  })

  test('Retry-After is honoured in seconds and as a date', async () => {
    const now = Date.parse('2026-10-01T12:00:00Z')
    api.play(
      fail(429, 'RATE_LIMITED', { 'retry-after': '7' }),
      fail(429, 'RATE_LIMITED', { 'retry-after': 'Thu, 01 Oct 2026 12:00:03 GMT' }),
      fail(429, 'RATE_LIMITED', { 'retry-after': 'soon' }),
      ok({}),
    )
    await api.client({ now: () => now }).invoices.get(ID)
    expect(api.pausesMs).toEqual([7_000, 3_000, 500])
  })

  test('a longer wait than a minute is told instead of waited for', async () => {
    api.play(fail(429, 'RATE_LIMITED', { 'retry-after': '61' }), ok({}))
    expect(await failureOf(api.client().invoices.get(ID))).toMatchObject({ retryAfterMs: 61_000, retryable: true })
    expect(api.pausesMs).toEqual([])
  })

  test('maxRetries: 0 turns them off', async () => {
    api.play('cut', ok({}))
    expect(await failureOf(api.client({ maxRetries: 0 }).invoices.get(ID))).toBeInstanceOf(PaymeshConnectionError)
    expect(api.seen).toHaveLength(1)
  })

  test('a time-out counts as a failed attempt', async () => {
    const keys: (string | undefined)[] = []
    const client = createPaymesh({
      ...OFFLINE,
      timeoutMs: 20,
      sleep: async () => undefined,
      fetch: async (_url, { headers, signal }) => {
        keys.push(headers['idempotency-key'])
        if (keys.length === 1) await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
        return new Response('{"data":{"id":"i"},"error":null,"request_id":"req_1"}')
      },
    })
    expect(await client.invoices.create(CREATE)).toEqual({ id: 'i' })
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
  })

  test('silence ends in a typed time-out that names the key to ask again with', async () => {
    api.play('hang')
    const client = api.client({ timeoutMs: 50, maxRetries: 0 })
    expect(await failureOf(client.invoices.create(CREATE, { idempotencyKey: 'order-1' }))).toMatchObject({
      name: 'PaymeshConnectionError',
      reason: 'timeout',
      retryable: true,
      idempotencyKey: 'order-1',
      status: null,
    })
  })
})

describe('errors', () => {
  test('carry the offending fields, in the message too', async () => {
    const details = [{ path: 'customer.email', message: 'must be an e-mail address' }]
    api.play(fail(400, 'VALIDATION_ERROR', {}, details))
    const error = await failureOf(api.client().invoices.create(CREATE))
    expect(error).toMatchObject({ details })
    expect(String(error)).toContain('customer.email: must be an e-mail address')
    expect(String(error)).toContain('POST /invoices, req_failed')
  })

  /** A key in a stack trace or a log is a leaked key. */
  test.each([[fail(401, 'UNAUTHENTICATED')], ['cut'], [{ status: 200, text: 'hello' }]] as const)(
    'never show the API key (%#)',
    async (step) => {
      api.play(step)
      const error = await failureOf(api.client({ maxRetries: 0 }).invoices.get(ID))
      const { message, stack } = error as Error
      expect(`${message}${stack}${JSON.stringify(error)}`).not.toContain('pm_test_example')
    },
  )

  test.each([
    ['a page of something else', { status: 200, text: '<html>' }],
    ['an empty answer', { status: 200, text: '' }],
    ['JSON that is no envelope', { status: 200, text: '{"data":{}}' }],
    ['a 404 of another server', { status: 404, text: 'not here' }],
  ])('%s is not mistaken for the API, nor repeated', async (_name, step) => {
    api.play(step, ok({}))
    expect(await failureOf(api.client().invoices.get(ID))).toMatchObject({ reason: 'unreadable', retryable: false })
    expect(api.seen).toHaveLength(1)
  })

  test('half an answer is asked for again, where the connection shows no end', async () => {
    api.play({ status: 201, text: '{"data":{"id":"0193' }, ok({ status: 'new' }))
    expect(await api.client().invoices.create(CREATE)).toMatchObject({ status: 'new' })
    expect(new Set(api.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(api.seen).toHaveLength(2)
  })

  /** Following it would send the key to the host that the redirect names. */
  test('a redirect is not followed', async () => {
    api.play({ status: 307, headers: { location: '/elsewhere' }, text: '' }, ok({}))
    expect(await failureOf(api.client().invoices.create(CREATE))).toMatchObject({ reason: 'unreadable', status: 307 })
    expect(api.seen).toHaveLength(1)
  })

  test("the caller's signal ends a call in flight", async () => {
    api.play('hang')
    const controller = new AbortController()
    const reason = new Error('the user left')
    const arrived = api.nextRequest()
    const call = failureOf(api.client().invoices.get(ID, { signal: controller.signal }))
    await arrived
    controller.abort(reason)
    expect(await call).toBe(reason)
  })

  test("the caller's signal ends the pause before a retry, and one that was aborted before sends nothing", async () => {
    const controller = new AbortController()
    const reason = new Error('the user left')
    let attempts = 0
    const client = createPaymesh({
      ...OFFLINE,
      random: () => 0.99,
      fetch: async () => {
        attempts += 1
        // The pause begins in the microtasks that follow, hence before the next turn of the loop.
        setImmediate(() => controller.abort(reason))
        throw new TypeError('fetch failed')
      },
    })
    expect(await failureOf(client.invoices.get(ID, { signal: controller.signal }))).toBe(reason)
    expect(await failureOf(client.invoices.get(ID, { signal: controller.signal }))).toBe(reason)
    expect(attempts).toBe(1)
  })
})
