import type { ReplyFault } from './faults.ts'

/** An HTTP response of the simulator. */
export interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const MAINTENANCE = '<html><body><h1>Scheduled maintenance</h1></body></html>'
const HTML = { 'content-type': 'text/html' }
const TOO_MANY = '{"message":"Too many requests"}'

/** How each source reports an error inside a 200 response, as recorded. */
const ERRORS_IN_200: Readonly<Record<string, string>> = {
  kraken: '{"error":["EService:Unavailable"]}',
  coinbase: '{"errors":[{"id":"rate_limit_exceeded","message":"Too many requests"}]}',
  bitstamp: '{"error":"Bitstamp.net is under scheduled maintenance. We\'ll be back soon."}',
  okx: '{"code":"50001","msg":"Service temporarily unavailable","data":[]}',
  binance: '{"code":-1003,"msg":"Too many requests."}',
  bitfinex: '["error",20060,"maintenance"]',
  bitso: '{"success":false,"error":{"code":"0304","message":"The field is invalid"}}',
  'coinbase-fx': '{"errors":[{"id":"internal_server_error","message":"Something went wrong"}]}',
  yadio: '{"error":"service unavailable"}',
  'open-er-api': '{"result":"error","error-type":"quota-reached"}',
  'dolar-api': '{"error":"unavailable"}',
  'coin-paprika': '{"error":"id not found"}',
}

/** The response of a source with this fault. */
export function brokenReply(fault: ReplyFault, source: string, now: number): Reply {
  switch (fault) {
    case 'html':
      return { status: 200, body: MAINTENANCE, headers: HTML }
    case 'html_as_json':
      return { status: 200, body: MAINTENANCE }
    case 'error_in_200':
      return { status: 200, body: ERRORS_IN_200[source] ?? '{}' }
    case 'redirect':
      return { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/elsewhere' } }
    case 'http_429':
      return { status: 429, body: TOO_MANY, headers: { 'retry-after': '30' } }
    case 'http_429_date':
      return { status: 429, body: TOO_MANY, headers: { 'retry-after': new Date(now + 30_000).toUTCString() } }
    case 'http_429_bare':
      return { status: 429, body: TOO_MANY }
    case 'http_418':
      return { status: 418, body: '{"code":-1003,"msg":"Way too many requests."}', headers: { 'retry-after': '120' } }
    case 'http_401':
      return { status: 401, body: '{"status":{"error_code":10002,"error_message":"API key missing"}}' }
    case 'forbidden':
      return { status: 403, body: '{"message":"Forbidden"}' }
    case 'http_451':
      return { status: 451, body: '{"code":0,"msg":"Service unavailable from a restricted location"}' }
    case 'http_500':
      return { status: 500, body: MAINTENANCE, headers: HTML }
    case 'http_503':
      return { status: 503, body: MAINTENANCE, headers: HTML }
    case 'http_520':
      return { status: 520, body: MAINTENANCE, headers: HTML }
  }
}
