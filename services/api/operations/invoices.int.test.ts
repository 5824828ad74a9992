import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { paymentResource } from '#shared/contracts/http/payment-resource.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
const BODY = { amount: '25.00', currency: 'USD' }
const UNKNOWN = '019a0000-0000-7000-8000-000000000000'

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

const created = async (body: object = {}, key = api.testKey): Promise<string> =>
  (await api.call('POST', '/invoices', { key, body: { ...BODY, ...body } })).json.data.id
const withoutRequestId = (text: string) => text.replace(/req_\w+/, '')
const strangerKey = async (): Promise<string> =>
  (await api.newKey('test', undefined, (await api.newWorkspace()).id)).apiKey

describe('every operation on one invoice', () => {
  const operations: readonly (readonly [string, string, string, unknown])[] = [
    ['GET', '', 'invoices:write', undefined],
    ['POST', '/cancel', 'invoices:read', undefined],
    ['POST', '/simulate', 'invoices:read', { scenario: 'paid' }],
  ]
  const pathOf = (id: string, suffix: string) =>
    suffix === '/simulate' ? `/test/invoices/${id}/simulate` : `/invoices/${id}${suffix}`

  // Guarantee: nobody can find out whether an invoice of another workspace or mode exists.
  it.each(operations)('%s %s gives foreign and unknown invoices the same 404', async (method, suffix, _scope, body) => {
    const foreign = await created({}, await strangerKey())
    const live = await created({}, api.liveKey)
    const answers = []
    for (const id of [UNKNOWN, foreign, live]) answers.push(await api.call(method, pathOf(id, suffix), { body }))
    for (const { status, text } of answers) {
      expect(status).toBe(404)
      expect(withoutRequestId(text)).toBe(withoutRequestId(answers[0]?.text ?? ''))
    }
  })

  it.each(operations)('%s %s refuses a malformed id with its path', async (method, suffix, _scope, body) => {
    for (const id of ['abc', `${UNKNOWN}x`, '%00', '%ff', 'null']) {
      const { status, json } = await api.call(method, pathOf(id, suffix), { body })
      expect([status, json.error.code, json.error.details[0].path]).toEqual([400, 'VALIDATION_ERROR', 'id'])
    }
  })

  it.each(operations)('%s %s needs a key and the right scope', async (method, suffix, scope, body) => {
    const path = pathOf(await created(), suffix)
    expect((await api.call(method, path, { key: null, body })).status).toBe(401)
    const { apiKey } = await api.newKey('test', [scope as 'invoices:read'])
    const { status, json } = await api.call(method, path, { key: apiKey, body })
    expect([status, json.error.code]).toEqual([403, 'FORBIDDEN_SCOPE'])
  })
})

describe('GET /invoices/{id}', () => {
  it('shows the invoice as the creation did, whatever the case of the id', async () => {
    const first = await api.call('POST', '/invoices', { body: { ...BODY, asset: 'usdt_ethereum' } })
    const { status, json } = await api.call('GET', `/invoices/${first.json.data.id.toUpperCase()}`)
    expect(status).toBe(200)
    expect(json.data).toEqual(first.json.data)
  })

  it('refuses a query that it does not know', async () => {
    const { status, json } = await api.call('GET', `/invoices/${UNKNOWN}?expand=all`)
    expect([status, json.error.details[0].path]).toEqual([400, 'expand'])
  })
})

describe('POST /invoices/{id}/cancel', () => {
  it('cancels once; a second time is 409, a retry under the same key is the first answer', async () => {
    const id = await created()
    const headers = { 'idempotency-key': 'cancel-1' }
    const first = await api.call('POST', `/invoices/${id}/cancel`, { headers })
    expect([first.status, first.json.data.status]).toEqual([200, 'cancelled'])
    const retry = await api.call('POST', `/invoices/${id}/cancel`, { headers })
    expect([retry.status, retry.text, retry.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true'])
    const again = await api.call('POST', `/invoices/${id}/cancel`, { body: {} })
    expect([again.status, again.json.error.code]).toEqual([409, 'INVALID_STATE'])
  })

  it('repeats a stored 409 and keeps one key on two invoices apart', async () => {
    const headers = { 'idempotency-key': 'cancel-2' }
    const paid = await created()
    await api.call('POST', `/test/invoices/${paid}/simulate`, { body: { scenario: 'paid' } })
    const refused = await api.call('POST', `/invoices/${paid}/cancel`, { headers })
    const repeated = await api.call('POST', `/invoices/${paid}/cancel`, { headers })
    expect([refused.status, repeated.status, repeated.text]).toEqual([409, 409, refused.text])
    expect((await api.call('POST', `/invoices/${await created()}/cancel`, { headers })).status).toBe(200)
  })

  it('takes no body', async () => {
    const { status, json } = await api.call('POST', `/invoices/${await created()}/cancel`, { body: { reason: 'x' } })
    expect([status, json.error.details[0].path]).toEqual([400, 'reason'])
  })
})

describe('POST /test/invoices/{id}/simulate', () => {
  it('plays a payment to its end and lists it', async () => {
    const id = await created()
    const { status, json } = await api.call('POST', `/test/invoices/${id}/simulate`, { body: { scenario: 'paid' } })
    expect(status).toBe(200)
    const invoice = invoiceResource.parse(json.data)
    expect([invoice.status, invoice.received.amount]).toEqual(['paid', invoice.crypto?.amount])

    const list = await api.call('GET', `/payments?invoice_id=${id}`)
    const [payment] = list.json.data
    expect(paymentResource.parse(payment)).toMatchObject({
      invoice_id: id,
      status: 'confirmed',
      simulated: true,
      counted: true,
      tx_hash: null,
      amount: invoice.crypto?.amount,
    })
    expect(list.json.meta).toEqual({ next_cursor: null, has_more: false })
  })

  it('pays once under one key, and replays', async () => {
    const id = await created()
    const request = { body: { scenario: 'partial' }, headers: { 'idempotency-key': 'sim' } }
    const answers = [
      await api.call('POST', `/test/invoices/${id}/simulate`, request),
      await api.call('POST', `/test/invoices/${id}/simulate`, request),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]?.text).toBe(answers[1]?.text)
    expect((await api.call('GET', `/payments?invoice_id=${id}`)).json.data).toHaveLength(1)
  })

  // Guarantee: nothing is ever simulated with a live key, not even a look at whether the invoice exists.
  it('is for test keys only, before anything else is looked at', async () => {
    const { status, json } = await api.call('POST', '/test/invoices/abc/simulate', { key: api.liveKey, body: '{' })
    expect([status, json.error.code]).toEqual([403, 'TEST_MODE_ONLY'])
  })

  it('refuses an unknown scenario and a final state', async () => {
    const id = await created()
    const path = `/test/invoices/${id}/simulate`
    const unknown = await api.call('POST', path, { body: { scenario: 'refund' } })
    expect([unknown.status, unknown.json.error.details[0].path]).toEqual([400, 'scenario'])
    await api.call('POST', path, { body: { scenario: 'expired' } })
    const late = await api.call('POST', path, { body: { scenario: 'paid' } })
    expect([late.status, late.json.error.code]).toEqual([409, 'INVALID_STATE'])
  })
})
