import type { ApiRequest } from '#test/support/api.ts'

const UNKNOWN_ID = '019a0000-0000-7000-8000-000000000000'
const INVOICE = { amount: '25.00', currency: 'USD' }
const ENDPOINT = { url: 'https://1.1.1.1/hook', events: ['*'] }
const PRODUCT = { name: 'Mug', price: '9.50', currency: 'EUR' }
const LINK = { title: 'Mug', currency: 'EUR', amount: '9.50' }
const ESTIMATE = { amount: '10', currency: 'USD', asset: 'btc_bitcoin' }
const VALID = {
  '/invoices': INVOICE,
  '/webhook-endpoints': ENDPOINT,
  '/products': PRODUCT,
  '/payment-links': LINK,
  '/estimate': ESTIMATE,
  '/test/invoices/INVOICE/simulate': { scenario: 'paid' },
} as const
const BODY_PATHS = Object.keys(VALID)
const LONG_NAME = 'x'.repeat(2_000)
const LONG_NAME_PRINTED = `${'x'.repeat(999)}…`
const MANY_NAMES = Array.from({ length: 60 }, (_, index) => `x${index}`)

/**
 * A request and its refusal. `INVOICE` and `ENDPOINT` in the path stand for existing ids. `paths` are those of the details, in
 * order; null when there are none to check.
 */
export type BadRequest = readonly [
  method: string,
  path: string,
  request: ApiRequest,
  status: number,
  code: string,
  paths: readonly string[] | null,
]

const invalid = (method: string, path: string, paths: readonly string[], request: ApiRequest = {}): BadRequest => [
  method,
  path,
  request,
  400,
  'VALIDATION_ERROR',
  paths,
]
const body = (path: string, value: unknown, ...paths: readonly string[]): BadRequest =>
  invalid('POST', path, paths, { body: value })
const refused = (method: string, path: string, status: number, code: string, request: ApiRequest = {}): BadRequest => [
  method,
  path,
  request,
  status,
  code,
  null,
]

const ID_OPERATIONS: readonly (readonly [string, string])[] = [
  ['GET', '/invoices/ID'],
  ['POST', '/invoices/ID/cancel'],
  ['POST', '/test/invoices/ID/simulate'],
  ['DELETE', '/webhook-endpoints/ID'],
  ['GET', '/products/ID'],
  ['GET', '/payment-links/ID'],
  ['POST', '/payment-links/ID/deactivate'],
]
const LISTS = ['/invoices', '/payments', '/products', '/payment-links']

/** A value that is not text, in every JSON type but null, which is missing where a field may be. */
const WRONG = [1, true, ['x'], { $gt: '' }]

const bodies: readonly BadRequest[] = BODY_PATHS.flatMap((path) =>
  ['', '{', 'null', '[]', '"x"', '1', '{"a":1}x', '\ufeff{}', '['.repeat(1_000), Buffer.from([0x7b, 0xff, 0x7d])].map(
    (raw) => body(path, raw, ''),
  ),
)

const ids: readonly BadRequest[] = ID_OPERATIONS.flatMap(([method, path]) => [
  ...[
    'x',
    '1',
    'null',
    '%7B%7D',
    '%24gt',
    '%zz',
    '%ff',
    '%00',
    '..%2f..',
    'a%2Fb',
    `${UNKNOWN_ID}0`,
    `%7B${UNKNOWN_ID}%7D`,
    'g'.repeat(2_000),
  ].map((id) => invalid(method, path.replace('ID', id), ['id'])),
  refused(
    method,
    path.replace('ID', UNKNOWN_ID),
    404,
    'NOT_FOUND',
    path.includes('simulate') ? { body: { scenario: 'paid' } } : {},
  ),
  refused(method, path.replace('ID', 'x'), 401, 'UNAUTHENTICATED', { key: null }),
])

const lists: readonly BadRequest[] = LISTS.flatMap((path) => [
  ...['0', '101', '-1', '1.5', 'x', '', '1e2', '%2B5', '05', '9'.repeat(30)].map((limit) =>
    invalid('GET', `${path}?limit=${limit}`, ['limit']),
  ),
  ...['', 'x', 'A'.repeat(38), 'x'.repeat(201), '%00', UNKNOWN_ID].map((cursor) =>
    invalid('GET', `${path}?cursor=${cursor}`, ['cursor']),
  ),
  invalid('GET', `${path}?limit=1&limit=2`, ['limit']),
  invalid('GET', `${path}?limit[$gt]=1`, ['limit[$gt]']),
  invalid('GET', `${path}?__proto__=1`, ['__proto__']),
  invalid('GET', `${path}?limit=0&foo=1`, ['limit', 'foo']),
])

const queries: readonly BadRequest[] = [
  ...['', 'NEW', 'new,paid', '$ne'].map((status) => invalid('GET', `/invoices?status=${status}`, ['status'])),
  ...['', 'x'.repeat(121), '%00'].map((order) => invalid('GET', `/invoices?order_id=${order}`, ['order_id'])),
  ...['created_after', 'created_before'].flatMap((name) =>
    [
      '',
      'x',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-02-30T00:00:00Z',
      '2026-01-01T25:00:00Z',
      '1700000000',
      '2026-01-01T00:00:00%2B25:00',
    ].map((at) => invalid('GET', `/invoices?${name}=${at}`, [name])),
  ),
  ...['', 'x', `${UNKNOWN_ID}0`].map((id) => invalid('GET', `/payments?invoice_id=${id}`, ['invoice_id'])),
  ...['', 'usd', 'CHF'].map((fiat) => invalid('GET', `/rates?fiat=${fiat}`, ['fiat'])),
  ...['', 'BTC', 'shib_ethereum'].map((asset) => invalid('GET', `/rates?asset=${asset}`, ['asset'])),
  ...['/webhook-endpoints', '/currencies', '/invoices/INVOICE'].map((path) => invalid('GET', `${path}?x=1`, ['x'])),
  invalid('GET', `/invoices?${LONG_NAME}`, [LONG_NAME_PRINTED]),
  invalid('GET', `/invoices?${MANY_NAMES.map((name) => `${name}&${name}`).join('&')}`, MANY_NAMES.slice(0, 50)),
  ...BODY_PATHS.map((path) => invalid('POST', `${path}?x=1`, ['x'], { body: {} })),
  invalid('POST', '/invoices/INVOICE/cancel?x=1', ['x']),
  invalid('DELETE', '/webhook-endpoints/ENDPOINT?x=1', ['x']),
]

const fields: readonly BadRequest[] = [
  ...[...WRONG, '1e3', '+1', '01', '1,5', '-0', '0', '1.', '.5', '1.001', ' 1', '١', '9'.repeat(300)].flatMap(
    (amount) => [
      body('/invoices', { ...INVOICE, amount }, 'amount'),
      body('/estimate', { ...ESTIMATE, amount }, 'amount'),
      body('/products', { ...PRODUCT, price: amount }, 'price'),
      body('/payment-links', { ...LINK, amount }, 'amount'),
    ],
  ),
  ...[...WRONG, 'usd', 'CHF', 'USD '].flatMap((currency) => [
    body('/invoices', { ...INVOICE, currency }, 'currency'),
    body('/estimate', { ...ESTIMATE, currency }, 'currency'),
    body('/products', { ...PRODUCT, currency }, 'currency'),
    body('/payment-links', { ...LINK, currency }, 'currency'),
  ]),
  ...WRONG.flatMap((value) => [
    ...['description', 'order_id', 'asset', 'success_url', 'cancel_url'].map((name) =>
      body('/invoices', { ...INVOICE, [name]: value }, name),
    ),
    body('/invoices', { ...INVOICE, customer: { email: value } }, 'customer.email'),
    body('/invoices', { ...INVOICE, metadata: { k: value } }, 'metadata.k'),
    body('/webhook-endpoints', { ...ENDPOINT, url: value }, 'url'),
    body('/webhook-endpoints', { ...ENDPOINT, events: ['*', value] }, 'events.1'),
    body('/webhook-endpoints', { ...ENDPOINT, mode: value }, 'mode'),
    body('/test/invoices/INVOICE/simulate', { scenario: value }, 'scenario'),
  ]),
  ...['__proto__', 'constructor', '$where', 'a.b'].flatMap((name) =>
    Object.entries(VALID).map(([path, valid]) =>
      body(path, `${JSON.stringify(valid).slice(0, -1)},${JSON.stringify(name)}:{"x":1}}`, name),
    ),
  ),
  ...Object.entries(VALID).map(([path, valid]) => body(path, { ...valid, [LONG_NAME]: 1 }, LONG_NAME_PRINTED)),
  ...[299, 2_592_001, 300.5, -1, '600'].map((life) =>
    body('/invoices', { ...INVOICE, expires_in: life }, 'expires_in'),
  ),
  invalid('POST', '/webhook-endpoints', ['events.0', 'url'], {
    body: { url: 'http://shop.example', events: ['nope'] },
  }),
  invalid('POST', '/webhook-endpoints', ['events', 'url'], { body: { url: 'https://10.0.0.1/', events: [] } }),
  invalid('POST', '/webhook-endpoints', ['events', 'nope', 'url'], { body: { url: 'https://a\\b.example/', nope: 1 } }),
  invalid('POST', '/webhook-endpoints', ['url', 'mode'], {
    body: { ...ENDPOINT, url: 'https://shop.example:0/', mode: 'live' },
  }),
  body('/invoices/INVOICE/cancel', { reason: 'x' }, 'reason'),
  body('/invoices/INVOICE/cancel', '[1]', ''),
  ...[null, ''].flatMap((nothing) => [
    ...['amount', 'currency'].map((name) => body('/invoices', { ...INVOICE, [name]: nothing }, name)),
    ...['amount', 'currency', 'asset'].map((name) => body('/estimate', { ...ESTIMATE, [name]: nothing }, name)),
    ...['name', 'price', 'currency'].map((name) => body('/products', { ...PRODUCT, [name]: nothing }, name)),
    ...['title', 'amount'].map((name) => body('/payment-links', { ...LINK, [name]: nothing }, name)),
    body('/webhook-endpoints', { ...ENDPOINT, url: nothing }, 'url'),
    body('/webhook-endpoints', { ...ENDPOINT, events: nothing }, 'events'),
    body('/test/invoices/INVOICE/simulate', { scenario: nothing }, 'scenario'),
  ]),
]

const refusals: readonly BadRequest[] = [
  refused('POST', '/invoices', 400, 'UNSUPPORTED_ASSET', { body: { ...INVOICE, asset: 'shib_ethereum' } }),
  refused('POST', '/invoices', 400, 'AMOUNT_BELOW_MINIMUM', {
    body: { amount: '0.01', currency: 'USD', asset: 'btc_bitcoin' },
  }),
  ...['PUT', 'PATCH', 'OPTIONS', 'DELETE'].flatMap((method) =>
    LISTS.map((path) => refused(method, path, 405, 'NOT_FOUND')),
  ),
  ...['/', '/invoice', '/invoices/a/b', '/INVOICES/a/b', '/test/invoices', '/%zz'].map((path) =>
    refused('GET', path, 404, 'NOT_FOUND'),
  ),
  ...BODY_PATHS.flatMap((path) => [
    refused('POST', path, 415, 'VALIDATION_ERROR', { body: '{}', headers: { 'content-type': 'text/plain' } }),
    refused('POST', path, 413, 'VALIDATION_ERROR', { body: `"${'x'.repeat(256 * 1_024)}"` }),
    invalid('POST', path, ['Idempotency-Key'], { body: '{}', headers: { 'idempotency-key': '' } }),
    invalid('POST', path, ['Idempotency-Key'], { body: '{}', headers: { 'idempotency-key': 'x'.repeat(256) } }),
    invalid('POST', path, ['Idempotency-Key'], { body: '{}', headers: { 'idempotency-key': 'caf\u00e9' } }),
    invalid('POST', path, ['Idempotency-Key'], { body: '{}', headers: { 'idempotency-key': 'a\tb' } }),
  ]),
]

/** Bad requests over all operations. None of them may change anything. */
export const BAD_REQUESTS: readonly BadRequest[] = [...bodies, ...ids, ...lists, ...queries, ...fields, ...refusals]
