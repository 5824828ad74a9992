import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deletedResource, webhookEndpointResource } from '#shared/contracts/http/webhook-endpoint.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { IDEMPOTENCY_KEYS } from '#shared/db/requests/idempotency-model.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { createEgressGuard } from '#shared/runtime/http/egress-guard.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
// An address literal needs no name look-up.
const URL = 'https://1.1.1.1/hook'

beforeAll(async () => {
  // Names are looked up nowhere outside.
  const urlGuard = createEgressGuard({ allowLocalhost: true, resolve: async () => ['1.1.1.1'] })
  api = await openApi(stores, { deps: () => ({ urlGuard }) })
})
afterAll(() => api.close())

const create = (body: object, key = api.testKey, headers: Record<string, string> = {}) =>
  api.call('POST', '/webhook-endpoints', { key, headers, body: { url: URL, events: ['*'], ...body } })
const listed = async (key: string): Promise<string[]> =>
  (await api.call('GET', '/webhook-endpoints', { key })).json.data.map(({ id }: { id: string }) => id)

describe('POST /webhook-endpoints', () => {
  it('shows the secret once and never again', async () => {
    const { status, json } = await create({ events: ['invoice.paid', 'invoice.paid'], description: 'shop' })
    expect(status).toBe(201)
    const endpoint = webhookEndpointResource.parse(json.data)
    expect(endpoint.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(endpoint).toMatchObject({ mode: 'test', events: ['invoice.paid'], status: 'enabled', livemode: false })
    const list = await api.call('GET', '/webhook-endpoints')
    expect(list.json.data[0]).toMatchObject({ id: endpoint.id, url: URL })
    expect(list.text).not.toContain('whsec_')
    expect(list.json.meta).toEqual({ next_cursor: null, has_more: false })
  })

  // Guarantee: whoever registers or deletes an endpoint with a key is in the audit trail with that key, once.
  it('leaves an audit row with the key that asked, and so does deleting', async () => {
    const headers = { 'idempotency-key': 'recorded' }
    const { id } = (await create({}, api.testKey, headers)).json.data
    await create({}, api.testKey, headers)
    const both = (await create({ mode: 'both' }, api.liveKey)).json.data
    for (const one of [id, both.id, both.id]) await api.call('DELETE', `/webhook-endpoints/${one}`)
    const keys = new Map((await stores.db.collection(API_KEYS).find().toArray()).map((key) => [key.mode, key._id]))
    const rowsOf = async (subject: string) =>
      (await stores.db.collection(AUDIT_LOG).find({ subject }).sort({ at: 1, _id: 1 }).toArray()).map(
        ({ action, actor }) => `${action} ${actor}`,
      )
    expect((await rowsOf(id)).sort()).toEqual([
      `endpoint.created api_key:${keys.get('test')}`,
      `endpoint.deleted api_key:${keys.get('test')}`,
    ])
    expect((await rowsOf(both.id)).sort()).toEqual([
      `endpoint.created api_key:${keys.get('live')}`,
      `endpoint.restricted_to_live api_key:${keys.get('test')}`,
    ])
  })

  // Guarantee: a stolen live key cannot add or take away an endpoint without a mail to every owner, once.
  it('mails every owner about a live endpoint, and about none of test mode', async () => {
    const notices = async () => await stores.db.collection(MAILS).find({ template: 'owner_notice' }).toArray()
    const before = new Set((await notices()).map(({ _id }) => _id))
    const fresh = async () => (await notices()).filter(({ _id }) => !before.has(_id))
    const silent = (await create({}, api.testKey)).json.data
    await api.call('DELETE', `/webhook-endpoints/${silent.id}`)
    expect(await fresh()).toEqual([])
    const headers = { 'idempotency-key': 'announced' }
    const { id } = (await create({}, api.liveKey, headers)).json.data
    await create({}, api.liveKey, headers)
    expect(await fresh()).toMatchObject([{ data: { headline: 'A webhook endpoint was added', from: '127.0.0.1' } }])
    await api.call('DELETE', `/webhook-endpoints/${id}`, { key: api.liveKey })
    await api.call('DELETE', `/webhook-endpoints/${id}`, { key: api.liveKey })
    const mails = await fresh()
    expect(mails.map(({ data }) => data['headline']).sort()).toEqual([
      'A webhook endpoint was added',
      'A webhook endpoint was deleted',
    ])
    const key = await stores.db.collection(API_KEYS).findOne({ mode: 'live' })
    expect(mails.map(({ data }) => data['actor'])).toEqual(Array(2).fill(`api_key:${key?._id}`))
  })

  // Guarantee: whoever registers one URL twice learns it at once, in whatever way the URL is written.
  it('warns of another endpoint with the same URL', async () => {
    const workspace = await api.newWorkspace()
    const { apiKey: key } = await api.newKey('test', undefined, workspace.id)
    const made = async (url: string) =>
      (await api.call('POST', '/webhook-endpoints', { key, body: { url, events: ['*'] } })).json.data
    const first = await made('https://1.1.1.1')
    const second = await made('https://1.1.1.1:443/')
    const other = await made('https://1.1.1.1/other')
    expect([first.warning, other.warning]).toEqual([null, null])
    expect(second.warning).toContain(`already has an endpoint (${first.id})`)
    expect((await made('https://1.1.1.1/')).warning).toContain('already has 2 endpoints')
    const named = await made('https://hooks.example.com/a?b=C')
    for (const url of ['https://HOOKS.example.com:443/a?b=C', 'https://hooks.example.com./a?b=C#d'])
      expect((await made(url)).warning).toContain(named.id)
    for (const url of ['https://hooks.example.com/A?b=C', 'https://hooks.example.com:8443/a?b=C'])
      expect((await made(url)).warning).toBeNull()
  })

  // Guarantee: a retry gets the same secret, and the store never holds it in the clear.
  it('replays the same bytes, secret included, from a sealed record', async () => {
    const headers = { 'idempotency-key': 'hook' }
    const first = await create({}, api.testKey, headers)
    const again = await create({}, api.testKey, headers)
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    const records = await stores.db.collection(IDEMPOTENCY_KEYS).find().toArray()
    expect(JSON.stringify(records)).not.toContain(first.json.data.secret)
    const other = await create({ url: `${URL}/2` }, api.testKey, headers)
    expect([other.status, other.json.error.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH'])
  })

  it('creates one endpoint for ten requests at once under one key', async () => {
    const before = (await listed(api.testKey)).length
    const answers = await Promise.all([...Array(10)].map(() => create({}, api.testKey, { 'idempotency-key': 'ten' })))
    for (const { status } of answers) expect([201, 409]).toContain(status)
    expect(await listed(api.testKey)).toHaveLength(before + 1)
  })

  it.each([
    ['http', { url: 'http://1.1.1.1/' }, 'url'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'url'],
    ['the metadata service', { url: 'https://169.254.169.254/' }, 'url'],
    ['a decimal loopback address', { url: 'https://2130706433/' }, 'url'],
    ['an IPv6 loopback address', { url: 'https://[::1]/' }, 'url'],
    ['a local name', { url: 'https://localhost/' }, 'url'],
    ['credentials', { url: 'https://a:b@1.1.1.1/' }, 'url'],
    ['a privileged port', { url: 'https://1.1.1.1:22/' }, 'url'],
    ['no URL', { url: 'hook' }, 'url'],
    ['a URL with a line break', { url: `${URL}\r\nHost: x` }, 'url'],
    ['a URL with a space behind', { url: `${URL} ` }, 'url'],
    ['a list as URL', { url: [] }, 'url'],
    ['no events', { events: [] }, 'events'],
    ['an unknown event', { events: ['*', 'invoice.paid', 'invoice.sent'] }, 'events.2'],
    ['events as text', { events: '*' }, 'events'],
    ['the other mode', { mode: 'live' }, 'mode'],
    ['both modes with a test key', { mode: 'both' }, 'mode'],
    ['an unknown field', { secret: 'mine' }, 'secret'],
  ])('refuses %s', async (_name, body, path) => {
    const { status, json } = await create(body, (await api.newKey('test')).apiKey)
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(json.error.details.map((detail: { path: string }) => detail.path)).toEqual([path])
  })

  it('allows http://localhost for test endpoints of a development server only', async () => {
    expect((await create({ url: 'http://localhost:9999/' })).status).toBe(201)
    expect((await create({ url: 'http://localhost:9999/' }, api.liveKey)).status).toBe(400)
  })

  it('stops at the plan limit', async () => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { limits: { webhookEndpoints: 1 } })
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    expect((await create({}, apiKey)).status).toBe(201)
    const over = await create({}, apiKey)
    expect([over.status, over.json.error.code]).toEqual([403, 'PLAN_LIMIT_REACHED'])
  })

  it('needs a key and the scope', async () => {
    expect((await api.call('POST', '/webhook-endpoints', { key: null, body: {} })).status).toBe(401)
    expect((await create({}, (await api.newKey('test', ['invoices:write'])).apiKey)).status).toBe(403)
  })
})

describe('DELETE /webhook-endpoints/{id}', () => {
  it('deletes what the key can see', async () => {
    const { json } = await create({})
    const { id } = json.data
    const deleted = await api.call('DELETE', `/webhook-endpoints/${id}`)
    expect([deleted.status, deletedResource.parse(deleted.json.data)]).toEqual([
      200,
      { id, object: 'webhook_endpoint', deleted: true },
    ])
    expect((await api.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(404)
  })

  it('lets a test key end only the test events of an endpoint for both modes', async () => {
    const { id } = (await create({ mode: 'both' }, api.liveKey)).json.data
    expect(await listed(api.testKey)).toContain(id)
    expect((await api.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(200)
    expect(await listed(api.testKey)).not.toContain(id)
    expect(await listed(api.liveKey)).toContain(id)
    expect((await api.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(404)
  })

  // Guarantee: an endpoint of another workspace or mode cannot be told from one that does not exist.
  it('gives foreign, other-mode and unknown endpoints the same 404', async () => {
    const stranger = (await api.newKey('test', undefined, (await api.newWorkspace()).id)).apiKey
    const foreign = (await create({}, stranger)).json.data.id
    const live = (await create({}, api.liveKey)).json.data.id
    const answers = []
    for (const id of ['019a0000-0000-7000-8000-000000000000', foreign, live]) {
      answers.push(await api.call('DELETE', `/webhook-endpoints/${id}`))
    }
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(answers.map(({ text }) => text.replace(/req_\w+/, ''))).size).toBe(1)
  })

  it('refuses a malformed id, a missing key and a wrong scope', async () => {
    const { status, json } = await api.call('DELETE', '/webhook-endpoints/abc')
    expect([status, json.error.details[0].path]).toEqual([400, 'id'])
    expect((await api.call('DELETE', '/webhook-endpoints/abc', { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['invoices:read'])
    expect((await api.call('DELETE', '/webhook-endpoints/abc', { key: apiKey })).status).toBe(403)
  })
})
