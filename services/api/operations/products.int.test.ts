import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productResource } from '#shared/contracts/http/product-resource.ts'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
const BODY = { name: 'Coffee', price: '3.5', currency: 'USD' }
const UNKNOWN = '019a0000-0000-7000-8000-000000000000'

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

const create = (body: unknown = {}, key = api.testKey, headers: Record<string, string> = {}) =>
  api.call('POST', '/products', { key, headers, body: typeof body === 'object' ? { ...BODY, ...body } : body })
const freshKey = async (): Promise<string> => (await api.newKey('test')).apiKey
const strangerKey = async (): Promise<string> =>
  (await api.newKey('test', undefined, (await api.newWorkspace()).id)).apiKey
const pathsOf = ({ json }: { json: { error: { details: { path: string }[] } } }) =>
  json.error.details.map(({ path }) => path)
const stored = () => stores.db.collection(PRODUCTS).countDocuments({})

describe('POST /products', () => {
  it('answers 201 with every field of the record', async () => {
    const { status, json } = await create({ description: 'Black', sku: 'C-1' })
    expect(status).toBe(201)
    expect(productResource.parse(json.data)).toMatchObject({
      object: 'product',
      livemode: false,
      name: 'Coffee',
      description: 'Black',
      price: '3.50',
      currency: 'USD',
      sku: 'C-1',
      active: true,
    })
    expect(json.data.updated_at).toBe(json.data.created_at)
    expect((await api.call('GET', `/products/${json.data.id}`)).json.data).toEqual(json.data)
  })

  it('needs neither a description nor a sku, and prints prices with the decimals of the currency', async () => {
    const { json } = await create({ price: '1500', currency: 'CLP' }, api.liveKey)
    expect(json.data).toMatchObject({ description: null, sku: null, price: '1500', livemode: true })
    expect((await create({ price: '999999999999.99' })).json.data.price).toBe('999999999999.99')
  })

  it.each<[string, unknown, string[]]>(
    sampleOf(
      [
        ['no body', undefined, ['']],
        ['a list', '[]', ['']],
        ['text', '"x"', ['']],
        ['nothing in it', '{}', ['name', 'price', 'currency']],
        ['an empty name', { name: '' }, ['name']],
        ['a blank name', { name: ' \t ' }, ['name']],
        ['a name of 201 characters', { name: 'x'.repeat(201) }, ['name']],
        ['a name with NUL', { name: 'a\u0000b' }, ['name']],
        ['a name that is an operator', { name: { $gt: '' } }, ['name']],
        ['a number as price', { price: 3.5 }, ['price']],
        ['zero', { price: '0.00' }, ['price']],
        ['a negative price', { price: '-1' }, ['price']],
        ['an exponent', { price: '1e3' }, ['price']],
        ['a comma', { price: '1,5' }, ['price']],
        ['a leading zero', { price: '01' }, ['price']],
        ['three decimals of USD', { price: '1.005' }, ['price']],
        ['decimals of CLP', { price: '1.5', currency: 'CLP' }, ['price']],
        ['13 digits', { price: '1000000000000' }, ['price']],
        ['an unknown currency', { currency: 'JPY' }, ['currency']],
        ['a currency in lower case', { currency: 'usd' }, ['currency']],
        ['an empty description', { description: '' }, ['description']],
        ['a description of 501 characters', { description: 'x'.repeat(501) }, ['description']],
        ['a number for a description', { description: 1 }, ['description']],
        ['an empty sku', { sku: '' }, ['sku']],
        ['a sku of 101 characters', { sku: 'x'.repeat(101) }, ['sku']],
        ['an operator as sku', { sku: { $ne: 'x' } }, ['sku']],
        ['fields it does not know', { active: false, id: UNKNOWN }, ['active', 'id']],
        ['a prototype', '{"name":"x","price":"1","currency":"USD","__proto__":{"active":false}}', ['__proto__']],
      ],
      11,
    ),
  )('refuses %s', async (_name, body, paths) => {
    const before = await stored()
    const request = { key: await freshKey(), body: typeof body === 'object' ? { ...BODY, ...body } : body }
    const answer = await api.call('POST', '/products', request)
    expect([answer.status, answer.json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(pathsOf(answer)).toEqual(paths)
    expect(await stored()).toBe(before)
  })

  it('takes texts of the full length', async () => {
    const full = { name: 'x'.repeat(200), description: 'x'.repeat(500), sku: 'x'.repeat(100) }
    expect((await create(full)).json.data).toMatchObject(full)
  })

  // Guarantee: a sku names one product of a workspace and mode, however many requests want it at once.
  it('gives a sku to one of twenty parallel requests', async () => {
    const key = await freshKey()
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ sku: 'RACE' }, key)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status === 400)
    expect(refused).toHaveLength(19)
    for (const answer of refused)
      expect([answer.json.error.code, pathsOf(answer)]).toEqual(['VALIDATION_ERROR', ['sku']])
    expect((await create({ sku: 'RACE' }, api.liveKey)).status).toBe(201)
    expect((await create({ sku: 'RACE' }, await strangerKey())).status).toBe(201)
  })

  it('refuses a missing key, another scope and a restricted or suspended workspace', async () => {
    const codeOf = async (key: string | null) => {
      const { status, json } = await api.call('POST', '/products', { key, body: BODY })
      return [status, json.error.code]
    }
    expect(await codeOf(null)).toEqual([401, 'UNAUTHENTICATED'])
    const other = await api.newKey('test', ['products:read', 'links:write', 'invoices:write'])
    expect(await codeOf(other.apiKey)).toEqual([403, 'FORBIDDEN_SCOPE'])
    const workspace = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    await api.updateWorkspace(workspace.id, { status: 'restricted' })
    expect(await codeOf(apiKey)).toEqual([403, 'WORKSPACE_RESTRICTED'])
    expect((await api.call('GET', '/products', { key: apiKey })).status).toBe(200)
    await api.updateWorkspace(workspace.id, { status: 'suspended' })
    expect(await codeOf(apiKey)).toEqual([403, 'WORKSPACE_SUSPENDED'])
  })
})

describe('POST /products under an idempotency key', () => {
  it('replays the same bytes and refuses another body', async () => {
    const headers = { 'idempotency-key': 'p-1' }
    const first = await create({ sku: 'IDEM' }, api.testKey, headers)
    const again = await create({ sku: 'IDEM' }, api.testKey, headers)
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    const other = await create({ sku: 'IDEM-2' }, api.testKey, headers)
    expect([other.status, other.json.error.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH'])
  })

  it('checks a taken sku again each time', async () => {
    const headers = { 'idempotency-key': 'p-2' }
    await create({ sku: 'MINE' })
    for (const _try of [1, 2]) {
      const { status, headers: answered } = await create({ sku: 'MINE' }, api.testKey, headers)
      expect([status, answered.get('idempotent-replayed')]).toEqual([400, null])
    }
  })

  // Guarantee: a process that dies between the insert and the answer leaves one product, and the retry gets it.
  it('finds the product of a run that died before it answered', async () => {
    const dies = () => Promise.reject(new Error('killed'))
    const dying = await openApi(stores, {
      deps: ({ idempotency }) => ({ idempotency: { ...idempotency, finish: dies, release: dies, giveUp: dies } }),
    })
    // Its clock is ahead by ten minutes, so that no machine outlives its lease of five seconds before the next request.
    dying.engine.advance(600_000)
    const key = (await api.newKey('test')).apiKey
    const headers = { 'idempotency-key': 'p-3' }
    const request = { key, headers, body: { ...BODY, sku: 'CRASH' } }
    expect((await dying.call('POST', '/products', request)).status).toBe(500)
    await dying.close()
    const running = await api.call('POST', '/products', request)
    expect([running.status, running.json.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS'])
    api.engine.advance(631_000)
    const retry = await api.call('POST', '/products', request)
    expect([retry.status, retry.json.data.sku]).toEqual([201, 'CRASH'])
    const made = await stores.db.collection(PRODUCTS).find({ sku: 'CRASH' }).toArray()
    expect(made.map(({ _id }) => _id)).toEqual([retry.json.data.id])
    const replay = await api.call('POST', '/products', request)
    expect([replay.text, replay.headers.get('idempotent-replayed')]).toEqual([retry.text, 'true'])
  })
})

describe('GET /products/{id}', () => {
  // Guarantee: a product of another workspace or mode cannot be told from one that does not exist.
  it('gives foreign, other-mode and unknown products the same 404', async () => {
    const foreign = (await create({}, await strangerKey())).json.data.id
    const live = (await create({}, api.liveKey)).json.data.id
    const answers = []
    for (const id of [UNKNOWN, foreign, live]) answers.push(await api.call('GET', `/products/${id}`))
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(answers.map(({ text }) => text.replace(/req_\w+/, ''))).size).toBe(1)
  })

  it('takes an id in any case and refuses what is no id, a query, a missing key and a wrong scope', async () => {
    const { id } = (await create()).json.data
    expect((await api.call('GET', `/products/${id.toUpperCase()}`)).json.data.id).toBe(id)
    for (const wrong of ['abc', `${id}x`, '%00', '[object Object]']) {
      const answer = await api.call('GET', `/products/${wrong}`)
      expect([answer.status, pathsOf(answer)]).toEqual([400, ['id']])
    }
    expect(pathsOf(await api.call('GET', `/products/${id}?expand=all`))).toEqual(['expand'])
    expect((await api.call('GET', `/products/${id}`, { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['products:write'])
    expect((await api.call('GET', `/products/${id}`, { key: apiKey })).status).toBe(403)
  })
})

describe('GET /products', () => {
  const page = async (key: string, query = '') => {
    const { status, json } = await api.call('GET', `/products${query}`, { key })
    expect(status).toBe(200)
    return { ids: json.data.map(({ id }: { id: string }) => id), meta: json.meta }
  }

  // Guarantee: a walk over all pages meets each product that was there when it began exactly once.
  it('walks through pages, newest first, while products are added', async () => {
    const key = await strangerKey()
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth += 1) ids.unshift((await create({}, key)).json.data.id)
    expect(await page(key)).toEqual({ ids, meta: { next_cursor: null, has_more: false } })
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { ids: some, meta } = await page(key, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...some)
      cursor = meta.next_cursor
      await create({}, key)
    }
    expect(seen).toEqual(ids)
  })

  it('shows the products of the key mode only', async () => {
    const workspace = await api.newWorkspace()
    const test = (await api.newKey('test', undefined, workspace.id)).apiKey
    const live = (await api.newKey('live', undefined, workspace.id)).apiKey
    const { id } = (await create({}, test)).json.data
    expect((await page(test)).ids).toEqual([id])
    expect((await page(live)).ids).toEqual([])
  })

  it('refuses bad queries, foreign cursors, a missing key and a wrong scope', async () => {
    for (const [query, path] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=ten', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['cursor=', 'cursor'],
      ['cursor=abc', 'cursor'],
      [`cursor=${'x'.repeat(201)}`, 'cursor'],
      ['active=true', 'active'],
      ['sku[$ne]=x', 'sku[$ne]'],
    ]) {
      const answer = await api.call('GET', `/products?${query}`)
      expect([answer.status, pathsOf(answer)]).toEqual([400, [path]])
    }
    await create()
    const cursor: string = (await page(api.testKey, '?limit=1')).meta.next_cursor
    expect((await api.call('GET', `/payment-links?cursor=${cursor}`)).status).toBe(400)
    expect((await api.call('GET', `/products?cursor=${cursor}`, { key: api.liveKey })).status).toBe(400)
    expect((await api.call('GET', '/products', { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['products:write'])
    expect((await api.call('GET', '/products', { key: apiKey })).status).toBe(403)
  })
})
