import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { envelopesIn } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { IDEMPOTENCY_KEYS } from '#shared/db/requests/idempotency-model.ts'
import { eventRecords } from '#shared/usecases/outbox/relay-records.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
const BODY = { amount: '25.00', currency: 'USD' }

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

const create = (body: unknown = BODY, headers: Record<string, string> = {}, key?: string) =>
  api.call('POST', '/invoices', { body, headers, ...(key !== undefined && { key }) })

describe('201', () => {
  it('creates an invoice without an asset and prints every field', async () => {
    const { status, json, headers } = await create({
      ...BODY,
      description: 'Two mugs',
      order_id: 'order-1',
      metadata: { 'a.b': 'x', $c: 'ünï' },
      customer: { email: 'payer@example.com', name: 'Pia' },
      success_url: 'https://shop.example/ok',
      cancel_url: 'http://localhost:3000/no',
      expires_in: 300,
    })
    expect(status).toBe(201)
    const invoice = invoiceResource.parse(json.data)
    expect(json).toEqual({ data: invoice, error: null, request_id: expect.stringMatching(/^req_[0-9a-z]+$/) })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(invoice).toMatchObject({
      object: 'invoice',
      status: 'new',
      livemode: false,
      amount: { value: '25.00', currency: 'USD', minor: 2500 },
      crypto: null,
      rate: null,
      received: { amount: '0', amount_base_units: '0', confirmed_base_units: '0' },
      metadata: { 'a.b': 'x', $c: 'ünï' },
      source: 'api',
      order_id: 'order-1',
    })
    expect(invoice.urls.checkout).toBe(`https://pay.example.com/i/${invoice.id}`)
    expect(Date.parse(invoice.expires_at) - Date.parse(invoice.created_at)).toBe(300_000)
    const stored = await stores.db.collection(INVOICES).findOne({ _id: invoice.id })
    expect(stored?.outbox.map(({ type, seq }) => [type, seq])).toEqual([['invoice.created', 1]])
  })

  // Guarantee: the lengths of the API document are code points, in metadata as in every other text.
  it('takes metadata as long as the API document says, in whatever script', async () => {
    const metadata = { ['\u{1f600}'.repeat(40)]: '\u{1f600}'.repeat(500) }
    expect((await create({ ...BODY, metadata })).json.data?.metadata).toEqual(metadata)
  })

  it('locks the asset at creation: address, exact amount and a quote as long as the invoice', async () => {
    const { status, json } = await create({ ...BODY, asset: 'usdt_ethereum' })
    expect(status).toBe(201)
    const invoice = invoiceResource.parse(json.data)
    expect(invoice.status).toBe('pending')
    expect(invoice.crypto).toMatchObject({ asset: 'usdt_ethereum', amount_base_units: '25000000', decimals: 6 })
    expect(invoice.rate?.expires_at).toBe(invoice.expires_at)
    expect(Date.parse(invoice.expires_at) - Date.parse(invoice.created_at)).toBe(20 * 60_000)
    const stored = await stores.db.collection(INVOICES).findOne({ _id: invoice.id })
    expect(stored?.outbox.map(({ type }) => type)).toEqual(['invoice.created', 'invoice.pending'])
    expect(stored?.claims).toHaveLength(1)
  })

  it('gives every invoice its own number and address, also at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({ ...BODY, asset: 'eth_base' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201))
    expect(new Set(answers.map(({ json }) => json.data.number)).size).toBe(12)
    expect(new Set(answers.map(({ json }) => json.data.crypto.address)).size).toBe(12)
  })

  it.each(['1500', '1500.00', '1500.0'])('prints a currency without decimals without decimals: %s', async (amount) => {
    const { json } = await create({ amount, currency: 'CLP' }, {}, (await api.newKey('test')).apiKey)
    expect(json.data.amount).toEqual({ value: '1500', currency: 'CLP', minor: 1500 })
  })

  // Guarantee: an address that the shop's own form has taken never refuses the sale.
  it.each([
    ...['a&b@x.example', 'a/b@x.example', 'a#b@x.example', 'a=b@x.example', 'test!x@x.example', 'user%x@x.example'],
    ...[
      'a@münchen.de',
      'ünï@x.example',
      'почта@пример.рф',
      'a..b.@localhost',
      "o'brien@x.example",
      'हिन्दी@उदाहरण.भारत',
    ],
  ])('takes the e-mail address %s', async (email) => {
    const { status, json } = await create(
      { ...BODY, customer: { email: ` ${email} ` } },
      {},
      (await api.newKey('test')).apiKey,
    )
    expect([status, json.data?.customer.email]).toEqual([201, email])
  })

  // Guarantee: what frameworks write for "nothing" is nothing, and a read invoice can be sent back.
  it.each([
    [
      'Django',
      {
        order_id: '',
        description: '',
        customer: { email: null, name: '' },
        success_url: 'http://127.0.0.1:8000/thanks',
      },
    ],
    [
      'PHP',
      { metadata: [], customer: [], cancel_url: 'http://shop.test/cart', success_url: 'http://sub.localhost:8080/' },
    ],
    [
      'a copy of a response',
      {
        description: null,
        order_id: null,
        metadata: {},
        customer: { email: null, name: null },
        asset: null,
        expires_in: null,
        success_url: null,
      },
    ],
    ['metadata with nothing in it', { metadata: { coupon: null, channel: 'web' }, success_url: 'http://[::1]:3000/' }],
  ])('takes what %s sends', async (_name, fields) => {
    const { status, json } = await create({ ...BODY, ...fields }, {}, (await api.newKey('test')).apiKey)
    expect([status, json.error, json.data?.customer]).toEqual([201, null, { email: null, name: null }])
    expect(json.data.metadata).toEqual(JSON.stringify(fields).includes('coupon') ? { channel: 'web' } : {})
  })

  it('carries on when another process used the next numbers', async () => {
    const { json } = await create()
    const { _id, ...copy } = (await stores.db.collection(INVOICES).findOne({ _id: json.data.id })) ?? { _id: '' }
    const ahead = { ...copy, _id: api.engine.deps.random.uuid(), number: json.data.number + 1 }
    await stores.db.collection(INVOICES).insertOne(ahead as never)
    const next = await create()
    expect([next.status, next.json.data.number]).toEqual([201, json.data.number + 2])
  })
})

describe('400', () => {
  const faults: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['nothing', {}, ['amount', 'currency']],
    ['an unknown field', { ...BODY, amont: '1' }, ['amont']],
    ['an unknown nested field', { ...BODY, customer: { mail: 'x' } }, ['customer.mail']],
    ['a number as amount', { ...BODY, amount: 25 }, ['amount']],
    ['an exponent', { ...BODY, amount: '1e3' }, ['amount']],
    ['a plus sign', { ...BODY, amount: '+1' }, ['amount']],
    ['a leading zero', { ...BODY, amount: '01' }, ['amount']],
    ['a decimal comma', { ...BODY, amount: '1,5' }, ['amount']],
    ['minus zero', { ...BODY, amount: '-0' }, ['amount']],
    ['zero', { ...BODY, amount: '0.00' }, ['amount']],
    ['a dot without decimals', { ...BODY, amount: '1.' }, ['amount']],
    ['too many decimals', { ...BODY, amount: '1.001' }, ['amount']],
    ['decimals of a currency without them', { amount: '1.5', currency: 'CLP' }, ['amount']],
    ['thirteen integer digits', { ...BODY, amount: '1000000000000' }, ['amount']],
    ['a line break behind the amount', { ...BODY, amount: '25\n' }, ['amount']],
    ['an unknown currency', { ...BODY, currency: 'CHF' }, ['currency']],
    ['a currency in lower case', { ...BODY, currency: 'usd' }, ['currency']],
    ['a malformed asset', { ...BODY, asset: 'USDT' }, ['asset']],
    ['no text as asset', { ...BODY, asset: 1 }, ['asset']],
    ['a long description', { ...BODY, description: 'x'.repeat(501) }, ['description']],
    ['a long order id', { ...BODY, order_id: 'x'.repeat(121) }, ['order_id']],
    ['NUL in a text', { ...BODY, order_id: 'a\u0000b' }, ['order_id']],
    ['half a surrogate pair', { ...BODY, description: '\ud800' }, ['description']],
    ['no e-mail address', { ...BODY, customer: { email: 'nobody' } }, ['customer.email']],
    ['two e-mail addresses', { ...BODY, customer: { email: 'a@x.example,b@x.example' } }, ['customer.email']],
    ['a header as e-mail address', { ...BODY, customer: { email: 'a@x.example\r\nBcc:b@x' } }, ['customer.email']],
    ['a metadata value that is no text', { ...BODY, metadata: { foo: 1, ok: 'x' } }, ['metadata.foo']],
    ['a list as metadata', { ...BODY, metadata: ['x'] }, ['metadata']],
    [
      'metadata for a prototype',
      `{"amount":"1","currency":"USD","metadata":{"__proto__":"x"}}`,
      ['metadata.__proto__'],
    ],
    ['metadata for a constructor', { ...BODY, metadata: { constructor: 'x' } }, ['metadata.constructor']],
    ['a prototype for the body', `{"amount":"1","currency":"USD","__proto__":{"x":1}}`, ['__proto__']],
    [
      '51 metadata keys',
      { ...BODY, metadata: Object.fromEntries([...Array(51).keys()].map((i) => [`k${i}`, 'x'])) },
      ['metadata'],
    ],
    [
      'a long metadata key of pairs',
      { ...BODY, metadata: { [`a${'\u{1f600}'.repeat(40)}`]: 'x' } },
      [`metadata.a${'\u{1f600}'.repeat(19)}\ufffd`],
    ],
    ['half a pair as a field', '{"amount":"1","currency":"USD","\\ud800":1}', ['\ufffd']],
    ['an empty metadata key', { ...BODY, metadata: { '': 'x' } }, ['metadata.']],
    ['plain http', { ...BODY, success_url: 'http://shop.example' }, ['success_url']],
    ['a script', { ...BODY, cancel_url: 'javascript:alert(1)' }, ['cancel_url']],
    ['credentials in a URL', { ...BODY, cancel_url: 'https://a:b@shop.example' }, ['cancel_url']],
    ['too short a life', { ...BODY, expires_in: 299 }, ['expires_in']],
    ['a life as text', { ...BODY, expires_in: '600' }, ['expires_in']],
    ['a URL with a line break', { ...BODY, success_url: 'https://shop.example/\r\nX: y' }, ['success_url']],
    ['a URL with a space in front', { ...BODY, cancel_url: ' https://shop.example' }, ['cancel_url']],
    ['a URL that is no text, once', { ...BODY, success_url: 1 }, ['success_url']],
    ['a list as text, once', { ...BODY, order_id: [] }, ['order_id']],
    ['a bad amount beside another fault', { ...BODY, amount: '1.001', expires_in: 1 }, ['expires_in', 'amount']],
    ['a bad amount beside a bad currency', { amount: '1e3', currency: 'CHF' }, ['currency', 'amount']],
    ['a list', [], ['']],
    ['a text', '"x"', ['']],
    ['null', 'null', ['']],
    ['no JSON', '{"amount":', ['']],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), ['']],
    ['no body', '', ['']],
  ]
  it.each(sampleOf(faults, 19))('refuses %s and names the field', async (_name, body, paths) => {
    const key = (await api.newKey('test')).apiKey
    const { status, json } = await create(body, {}, key)
    expect([status, json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(json.error.details.map(({ path }: { path: string }) => path)).toEqual(paths)
    expect(json.data).toBeNull()
  })

  it.each(['http://localhost:1', 'http://shop.test', 'http://127.0.0.1:8000'])(
    'refuses %s with a live key',
    async (success_url) => {
      const { status, json } = await create({ ...BODY, success_url }, {}, api.liveKey)
      expect([status, json.error.details[0].path]).toEqual([400, 'success_url'])
    },
  )

  it('tells an unsupported asset from a malformed one', async () => {
    expect((await create({ ...BODY, asset: 'shib_ethereum' })).json.error.code).toBe('UNSUPPORTED_ASSET')
  })

  it('refuses an asset that the workspace cannot receive and an amount below its minimum', async () => {
    const live = await create({ ...BODY, asset: 'usdt_ethereum' }, {}, api.liveKey)
    expect([live.status, live.json.error.code]).toEqual([400, 'NO_WALLET_FOR_ASSET'])
    const nothing = await create({ amount: '0.01', currency: 'USD' })
    expect([nothing.status, nothing.json.error.code]).toEqual([400, 'AMOUNT_BELOW_MINIMUM'])
    const [, least = ''] =
      /smallest amount that can be paid in any asset is ([\d.]+) USD/.exec(nothing.json.error.details[0].message) ?? []
    expect((await create({ amount: least, currency: 'USD' })).status).toBe(201)
    const small = await create({ amount: '0.01', currency: 'USD', asset: 'usdt_ethereum' })
    expect([small.status, small.json.error.code]).toEqual([400, 'AMOUNT_BELOW_MINIMUM'])
  })

  // Guarantee: nobody is asked for more than the chain can carry in one transfer.
  it.each([
    ['doge_dogecoin', 'The maximum for doge_dogecoin is 10000000000 DOGE.'],
    ['ltc_litecoin', 'The maximum for ltc_litecoin is 84000000 LTC.'],
  ])('refuses more %s than there can be', async (asset, message) => {
    const key = (await api.newKey('test')).apiKey
    const large = await create({ amount: '999999999999.99', currency: 'USD', asset }, {}, key)
    expect([large.status, large.json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(large.json.error.details).toEqual([{ path: 'amount', message }])
    const token = await create({ amount: '999999999999.99', currency: 'USD', asset: 'usdt_ethereum' }, {}, key)
    expect([token.status, token.json.data?.crypto.amount]).toEqual([201, '999999999999.99'])
  })
})

describe('403 and 503', () => {
  it('needs the scope', async () => {
    const { apiKey } = await api.newKey('test', ['invoices:read'])
    const { status, json } = await create(BODY, {}, apiKey)
    expect([status, json.error.code]).toEqual([403, 'FORBIDDEN_SCOPE'])
  })

  it('refuses a restricted workspace before it validates', async () => {
    const workspace = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    await api.updateWorkspace(workspace.id, { status: 'restricted' })
    expect((await create({}, {}, apiKey)).json.error.code).toBe('WORKSPACE_RESTRICTED')
  })

  it('stops at the plan limit of the month and mode', async () => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { limits: { invoicesPerMonth: 1 } })
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    expect((await create(BODY, { 'idempotency-key': 'quota' }, apiKey)).status).toBe(201)
    const over = await create(BODY, {}, apiKey)
    expect([over.status, over.json.error.code]).toEqual([403, 'PLAN_LIMIT_REACHED'])
    // Guarantee: a create that used the last quota replays instead of failing.
    const replay = await create(BODY, { 'idempotency-key': 'quota' }, apiKey)
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
  })

  it('answers 503 without a fresh rate', async () => {
    api.engine.advance(3_600_000)
    const { status, json } = await create({ ...BODY, asset: 'usdt_ethereum' })
    expect([status, json.error.code]).toEqual([503, 'RATES_UNAVAILABLE'])
    // Past the second for which a process may keep what it knows of the rates.
    api.engine.advance(2_000)
    await api.engine.publishRates()
    // The hour also ended what the process held of derived addresses.
    await api.engine.watchEverything()
  })
})

describe('idempotency', () => {
  // Guarantee: one key creates one invoice and repeats the first answer byte for byte.
  it('replays the same bytes, also after the invoice moved on', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await create({ ...BODY, asset: 'usdt_ethereum', metadata: { z: '1', a: '2' } }, headers)
    await api.call('POST', `/invoices/${first.json.data.id}/cancel`)
    const again = await create({ ...BODY, asset: 'usdt_ethereum', metadata: { z: '1', a: '2' } }, headers)
    expect([again.status, again.text]).toEqual([201, first.text])
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([null, 'true'])
  })

  // Guarantee: the answer can be repeated after the relay has carried its outbox entry away.
  it('replays the same bytes from the event that the relay made', async () => {
    const headers = { 'idempotency-key': 'relayed' }
    const first = await create({ ...BODY, metadata: { 10: 'ten', 2: 'two', b: 'é' } }, headers)
    const { invoices, events } = api.engine.deps
    const invoice = await invoices.findById(first.json.data.id)
    if (invoice === null) throw new Error('the invoice is not stored')
    await events.insertMany(eventRecords(invoice, api.deps.urls))
    await invoices.trimOutbox([{ id: invoice.terms.id, throughSeq: 1 }])
    const again = await create({ ...BODY, metadata: { 10: 'ten', 2: 'two', b: 'é' } }, headers)
    expect([again.status, again.text]).toEqual([201, first.text])
  })

  it('refuses another body under the same key, valid or not', async () => {
    const headers = { 'idempotency-key': 'other-body' }
    await create(BODY, headers)
    for (const body of [{ ...BODY, amount: '26.00' }, {}, '{']) {
      const { status, json } = await create(body, headers)
      expect([status, json.error.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH'])
    }
  })

  // Guarantee: concurrent twins create one invoice; the others are told so.
  it('creates one invoice for twenty requests at once', async () => {
    const headers = { 'idempotency-key': 'twins' }
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(BODY, headers)))
    const created = answers.filter(({ status }) => status === 201)
    expect(new Set(created.map(({ text }) => text)).size).toBe(1)
    for (const { status, json } of answers) {
      if (status !== 201) expect([status, json.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS'])
    }
    expect(await stores.db.collection(INVOICES).countDocuments({ 'idem.key': 'twins' })).toBe(1)
  })

  it('keeps keys apart by workspace and mode', async () => {
    const headers = { 'idempotency-key': 'apart' }
    const other = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', undefined, other.id)
    const ids = [
      await create(BODY, headers),
      await create(BODY, headers, api.liveKey),
      await create(BODY, headers, apiKey),
    ]
    expect(new Set(ids.map(({ json }) => json.data.id)).size).toBe(3)
  })

  it('repeats a business refusal even when it would succeed now, and never a validation error', async () => {
    const headers = { 'idempotency-key': 'refused' }
    const body = { ...BODY, asset: 'shib_ethereum' }
    const first = await create(body, headers)
    const again = await create(body, headers)
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([400, first.text, 'true'])
    expect((await create(BODY, headers)).json.error.code).toBe('IDEMPOTENCY_MISMATCH')

    await create({ ...BODY, amount: 'x' }, { 'idempotency-key': 'invalid' })
    expect((await create(BODY, { 'idempotency-key': 'invalid' })).status).toBe(201)
  })

  // Guarantee: an archive can be restored whatever was refused before it, and a master key can be replaced.
  it('stores a refusal sealed, as a restore and a rotation of the master key read it', async () => {
    await create({ ...BODY, asset: 'shib_ethereum' }, { 'idempotency-key': 'sealed' })
    const stored = await stores.db
      .collection(IDEMPOTENCY_KEYS)
      .find({ _id: /:sealed$/ })
      .toArray()
    const sealed = stored.flatMap((row) => envelopesIn('idempotency_keys', row))
    expect(sealed.map((one) => api.engine.secretBox.open(one.sealed, one.context))).toEqual([
      expect.stringContaining('UNSUPPORTED_ASSET'),
    ])
  })

  it('frees the key after 24 hours', async () => {
    const headers = { 'idempotency-key': 'daily' }
    const first = await create(BODY, headers)
    api.engine.advance(24 * 3_600_000)
    const second = await create(BODY, headers)
    expect(second.status).toBe(201)
    expect(second.json.data.id).not.toBe(first.json.data.id)
  })

  it.each(['', 'x'.repeat(256)])('refuses an empty key and one of 256 characters', async (key) => {
    const { status, json } = await create(BODY, { 'idempotency-key': key }, (await api.newKey('test')).apiKey)
    expect([status, json.error.details]).toEqual([400, [{ path: 'Idempotency-Key', message: expect.any(String) }]])
  })
})
