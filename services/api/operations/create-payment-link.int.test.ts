import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
const FIXED = { title: 'Coffee', currency: 'USD', amount: '3.5' }
const CUSTOM = { title: 'Tip', currency: 'USD', allow_custom_amount: true }
const UNKNOWN = '019a0000-0000-7000-8000-000000000000'

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

const create = (body: unknown = FIXED, key = api.testKey, headers: Record<string, string> = {}) =>
  api.call('POST', '/payment-links', { key, headers, body })
const idOf = async (key = api.testKey): Promise<string> => (await create(FIXED, key)).json.data.id
const productId = async (body: object = {}, key = api.testKey): Promise<string> => {
  const product = { name: 'Beans', price: '12', currency: 'EUR', ...body }
  return (await api.call('POST', '/products', { key, body: product })).json.data.id
}
const freshKey = async (): Promise<string> => (await api.newKey('test')).apiKey
const strangerKey = async (): Promise<string> =>
  (await api.newKey('test', undefined, (await api.newWorkspace()).id)).apiKey
const pathsOf = ({ json }: { json: { error: { details: { path: string }[] } } }) =>
  json.error.details.map(({ path }) => path)
const stored = () => stores.db.collection(PAYMENT_LINKS).countDocuments({})
const withoutRequestId = ({ text }: { text: string }) => text.replace(/req_\w+/, '')

describe('POST /payment-links', () => {
  it('answers 201 with every field of a link with a fixed amount', async () => {
    const { status, json } = await create({ ...FIXED, description: 'Black' })
    expect(status).toBe(201)
    const link = paymentLinkResource.parse(json.data)
    expect(link).toEqual({
      id: link.id,
      object: 'payment_link',
      livemode: false,
      status: 'active',
      title: 'Coffee',
      description: 'Black',
      currency: 'USD',
      amount: '3.50',
      allow_custom_amount: false,
      min_amount: null,
      max_amount: null,
      product_id: null,
      url: `https://pay.example.com/l/${link.id}`,
      uses: 0,
      deactivated_at: null,
      created_at: link.created_at,
      updated_at: link.created_at,
    })
    expect((await api.call('GET', `/payment-links/${link.id}`)).json.data).toEqual(json.data)
  })

  it('lets the payer choose the amount, within bounds if there are any', async () => {
    const open = await create({ ...CUSTOM, currency: 'CLP' }, api.liveKey)
    const expected = { amount: null, allow_custom_amount: true, min_amount: null, max_amount: null, livemode: true }
    expect([open.status, open.json.data]).toMatchObject([201, expected])
    const bounded = await create({ ...CUSTOM, min_amount: '1', max_amount: '1.00' })
    expect(bounded.json.data).toMatchObject({ min_amount: '1.00', max_amount: '1.00' })
    expect((await create({ ...CUSTOM, min_amount: '5' })).json.data).toMatchObject({ min_amount: '5.00' })
    expect((await create({ ...FIXED, allow_custom_amount: false })).status).toBe(201)
  })

  it('copies a product as it is at that moment', async () => {
    const product_id = await productId({ description: 'Whole', sku: 'B-1' })
    const { status, json } = await create({ product_id: product_id.toUpperCase(), allow_custom_amount: false })
    expect(status).toBe(201)
    expect(paymentLinkResource.parse(json.data)).toMatchObject({
      product_id,
      title: 'Beans',
      description: 'Whole',
      currency: 'EUR',
      amount: '12.00',
      allow_custom_amount: false,
    })
    await stores.db.collection(PRODUCTS).updateOne({ _id: product_id }, { $set: { name: 'Dear beans' } })
    expect((await api.call('GET', `/payment-links/${json.data.id}`)).json.data.title).toBe('Beans')
    expect((await create({ product_id, description: 'Own' })).json.data.description).toBe('Own')
  })

  it.each<[string, unknown, string[]]>([
    ['no body', '', ['']],
    ['a list', [], ['']],
    ['nothing in it', {}, ['title', 'currency', 'amount']],
    ['no title', { currency: 'USD', amount: '1' }, ['title']],
    ['no currency', { title: 'x', amount: '1' }, ['currency']],
    ['neither amount nor the permission to choose', { title: 'x', currency: 'USD' }, ['amount']],
    ['the same with a no', { title: 'x', currency: 'USD', allow_custom_amount: false }, ['amount']],
    ['both', { ...FIXED, allow_custom_amount: true }, ['amount', 'allow_custom_amount']],
    ['bounds of a fixed amount', { ...FIXED, min_amount: '1', max_amount: '2' }, ['min_amount', 'max_amount']],
    ['bounds upside down', { ...CUSTOM, min_amount: '2', max_amount: '1.99' }, ['min_amount', 'max_amount']],
    [
      'bounds that only texts would order',
      { ...CUSTOM, min_amount: '10', max_amount: '9' },
      ['min_amount', 'max_amount'],
    ],
    ['zero as amount', { ...FIXED, amount: '0' }, ['amount']],
    ['a negative amount', { ...FIXED, amount: '-0.01' }, ['amount']],
    ['a number', { ...FIXED, amount: 1 }, ['amount']],
    ['an exponent', { ...FIXED, amount: '1e3' }, ['amount']],
    ['13 digits', { ...FIXED, amount: '1000000000000' }, ['amount']],
    ['three decimals of USD', { ...FIXED, amount: '1.001' }, ['amount']],
    ['decimals of CLP', { ...FIXED, currency: 'CLP', amount: '1.5' }, ['amount']],
    ['zero as lower bound', { ...CUSTOM, min_amount: '0' }, ['min_amount']],
    [
      'decimals of CLP in bounds',
      { ...CUSTOM, currency: 'CLP', min_amount: '1.5', max_amount: '2.' },
      ['min_amount', 'max_amount'],
    ],
    ['a number as upper bound', { ...CUSTOM, max_amount: 5 }, ['max_amount']],
    ['text as permission', { ...CUSTOM, allow_custom_amount: 'true' }, ['allow_custom_amount']],
    ['an unknown currency', { ...FIXED, currency: 'JPY' }, ['currency']],
    ['an empty title', { ...FIXED, title: '' }, ['title']],
    ['a blank title', { ...FIXED, title: '\n ' }, ['title']],
    ['a title of 201 characters', { ...FIXED, title: 'x'.repeat(201) }, ['title']],
    ['half a surrogate pair', { ...FIXED, title: 'a\ud800' }, ['title']],
    ['a description of 501 characters', { ...FIXED, description: 'x'.repeat(501) }, ['description']],
    ['a product id that is none', { product_id: 'beans' }, ['product_id']],
    ['an operator as product id', { product_id: { $ne: '' } }, ['product_id']],
    ['a product and its own terms', { ...FIXED, product_id: UNKNOWN }, ['title', 'currency', 'amount']],
    [
      'a product and a choice',
      { product_id: UNKNOWN, allow_custom_amount: true, min_amount: '1', max_amount: '2' },
      ['min_amount', 'max_amount', 'allow_custom_amount'],
    ],
    ['fields it does not know', { ...FIXED, status: 'inactive', uses: 0 }, ['status', 'uses']],
  ])('refuses %s', async (_name, body, paths) => {
    const before = await stored()
    const answer = await create(body, await freshKey())
    expect([answer.status, answer.json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(pathsOf(answer)).toEqual(paths)
    expect(await stored()).toBe(before)
  })

  // Guarantee: a product of another workspace or mode cannot be told from one that does not exist.
  it('gives unknown, foreign and other-mode products the same 404', async () => {
    const foreign = await productId({}, await strangerKey())
    const live = await productId({}, api.liveKey)
    const answers = []
    for (const product_id of [UNKNOWN, foreign, live]) answers.push(await create({ product_id }))
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(Array(3).fill([404, 'NOT_FOUND']))
    expect(new Set(answers.map(withoutRequestId)).size).toBe(1)
  })

  it('refuses an inactive product', async () => {
    const product_id = await productId()
    await stores.db.collection(PRODUCTS).updateOne({ _id: product_id }, { $set: { active: false } })
    const { status, json } = await create({ product_id })
    expect([status, json.error.code]).toEqual([409, 'INVALID_STATE'])
  })

  it('stops at the plan limit of active links, in each mode for itself', async () => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { limits: { paymentLinks: 2 } })
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    const live = (await api.newKey('live', undefined, workspace.id)).apiKey
    const headers = { 'idempotency-key': 'last' }
    const first = await idOf(apiKey)
    const last = await create(FIXED, apiKey, headers)
    expect(last.status).toBe(201)
    const over = await create(FIXED, apiKey)
    expect([over.status, over.json.error.code]).toEqual([403, 'PLAN_LIMIT_REACHED'])
    const replay = await create(FIXED, apiKey, headers)
    expect([replay.status, replay.text]).toEqual([201, last.text])
    expect((await create({ title: '' }, apiKey)).status).toBe(400)
    expect((await create(FIXED, live)).status).toBe(201)
    await api.call('POST', `/payment-links/${first}/deactivate`, { key: apiKey })
    expect((await create(FIXED, apiKey)).status).toBe(201)
  })

  it('refuses a missing key, another scope and a restricted or suspended workspace', async () => {
    const codeOf = async (key: string | null) => {
      const { status, json } = await api.call('POST', '/payment-links', { key, body: FIXED })
      return [status, json.error.code]
    }
    expect(await codeOf(null)).toEqual([401, 'UNAUTHENTICATED'])
    expect(await codeOf((await api.newKey('test', ['links:read', 'products:write'])).apiKey)).toEqual([
      403,
      'FORBIDDEN_SCOPE',
    ])
    const workspace = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    const id = await idOf(apiKey)
    await api.updateWorkspace(workspace.id, { status: 'restricted' })
    expect(await codeOf(apiKey)).toEqual([403, 'WORKSPACE_RESTRICTED'])
    const ended = await api.call('POST', `/payment-links/${id}/deactivate`, { key: apiKey })
    expect([ended.status, ended.json.data.status]).toEqual([200, 'inactive'])
    await api.updateWorkspace(workspace.id, { status: 'suspended' })
    expect(await codeOf(apiKey)).toEqual([403, 'WORKSPACE_SUSPENDED'])
  })
})

describe('POST /payment-links under an idempotency key', () => {
  it('replays the same bytes and refuses another body', async () => {
    const headers = { 'idempotency-key': 'l-1' }
    const first = await create(FIXED, api.testKey, headers)
    const again = await create(FIXED, api.testKey, headers)
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    const other = await create(CUSTOM, api.testKey, headers)
    expect([other.status, other.json.error.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH'])
  })

  it('creates one link for ten requests at once', async () => {
    const key = await freshKey()
    const before = await stored()
    const answers = await Promise.all([...Array(10)].map(() => create(FIXED, key, { 'idempotency-key': 'l-2' })))
    for (const { status } of answers) expect([201, 409]).toContain(status)
    expect(await stored()).toBe(before + 1)
  })

  it('repeats a stored 404', async () => {
    const headers = { 'idempotency-key': 'l-3' }
    const first = await create({ product_id: UNKNOWN }, api.testKey, headers)
    const again = await create({ product_id: UNKNOWN }, api.testKey, headers)
    expect([first.status, again.status, again.text]).toEqual([404, 404, first.text])
  })

  // Guarantee: a process that dies between the insert and the answer leaves one link; the retry gets it, whatever changed since.
  it('finds the link of a run that died before it answered', async () => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { limits: { paymentLinks: 1 } })
    const { apiKey: key } = await api.newKey('test', undefined, workspace.id)
    const product_id = await productId({}, key)
    const request = { key, headers: { 'idempotency-key': 'l-4' }, body: { product_id } }
    const dies = () => Promise.reject(new Error('killed'))
    const dying = await openApi(stores, {
      deps: ({ idempotency }) => ({ idempotency: { ...idempotency, finish: dies, release: dies } }),
    })
    expect((await dying.call('POST', '/payment-links', request)).status).toBe(500)
    await dying.close()
    await stores.db.collection(PRODUCTS).updateOne({ _id: product_id }, { $set: { active: false } })
    api.engine.advance(31_000)
    const retry = await api.call('POST', '/payment-links', request)
    expect([retry.status, retry.json.data.product_id]).toEqual([201, product_id])
    const made = await stores.db.collection(PAYMENT_LINKS).find({ workspaceId: workspace.id }).toArray()
    expect(made.map(({ _id }) => _id)).toEqual([retry.json.data.id])
  })
})
