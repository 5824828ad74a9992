import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PaymeshWebhookError, type VerifyWebhookOptions, verifyWebhook, type WebhookFault } from './verify-webhook.ts'

const SECRET = 'whsec_c2VjcmV0'
const NOW_S = 1_790_000_000
const BODY = JSON.stringify({ id: 'evt_1', object: 'event', type: 'invoice.paid', data: { object: { note: 'é ✓' } } })

function sign(t: number | string, body: string | Uint8Array, secret = SECRET): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}

/** Null when the request is believed, else the reason. */
function evaluate(
  body: string | Uint8Array,
  header: Parameters<typeof verifyWebhook>[1],
  secret: string | string[] = SECRET,
  options: VerifyWebhookOptions = {},
): WebhookFault | null {
  try {
    verifyWebhook(body, header, secret, { now: () => NOW_S * 1_000 + 999, ...options })
    return null
  } catch (error) {
    if (error instanceof PaymeshWebhookError) return error.reason
    throw error
  }
}

/** Whoever can pass this check can tell a shop that it was paid. */
describe('verifyWebhook', () => {
  test('gives the event of a genuine delivery, from text and from bytes', () => {
    const options = { now: () => NOW_S * 1_000 }
    expect(verifyWebhook(BODY, sign(NOW_S, BODY), SECRET, options)).toEqual(JSON.parse(BODY))
    const bytes = new TextEncoder().encode(BODY)
    expect(verifyWebhook(bytes, sign(NOW_S, BODY), SECRET, options).id).toBe('evt_1')
    expect(verifyWebhook(Buffer.from(BODY), sign(NOW_S, BODY), SECRET, options).id).toBe('evt_1')
  })

  test.each([
    [-301, 'timestamp_out_of_range'],
    [-300, null],
    [0, null],
    [300, null],
    [301, 'timestamp_out_of_range'],
  ])('signed %i s from now: %s', (offset, verdict) => {
    expect(evaluate(BODY, sign(NOW_S + offset, BODY))).toBe(verdict)
  })

  test('the real clock is the default', () => {
    const nowS = Math.floor(Date.now() / 1_000)
    expect(verifyWebhook(BODY, sign(nowS, BODY), SECRET).type).toBe('invoice.paid')
    expect(() => verifyWebhook(BODY, sign(nowS - 400, BODY), SECRET)).toThrow(PaymeshWebhookError)
  })

  test('a smaller tolerance can be asked for', () => {
    expect(evaluate(BODY, sign(NOW_S - 31, BODY), SECRET, { toleranceS: 30 })).toBe('timestamp_out_of_range')
    expect(evaluate(BODY, sign(NOW_S - 30, BODY), SECRET, { toleranceS: 30 })).toBe(null)
  })

  /** `Number(process.env.UNSET)` must not switch the protection against replays off. */
  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('a tolerance of %s is refused', (toleranceS) => {
    expect(() => evaluate(BODY, sign(NOW_S, BODY), SECRET, { toleranceS })).toThrow(TypeError)
  })

  test('a clock that gives no number lets nothing pass', () => {
    expect(evaluate(BODY, sign(NOW_S, BODY), SECRET, { now: () => Number.NaN })).toBe('timestamp_out_of_range')
  })

  test.each([
    ['a changed byte', BODY.replace('paid', 'pald')],
    ['a space more', `${BODY} `],
    ['the same JSON serialised again', JSON.stringify(JSON.parse(BODY), null, 1)],
    ['an empty body', ''],
  ])('%s is refused', (_name, body) => {
    expect(evaluate(body, sign(NOW_S, BODY))).toBe('signature_mismatch')
  })

  test('another secret, and a fresh time over an old digest, are refused', () => {
    expect(evaluate(BODY, sign(NOW_S, BODY, 'whsec_other'))).toBe('signature_mismatch')
    expect(evaluate(BODY, sign(NOW_S - 9_999, BODY).replace(`t=${NOW_S - 9_999}`, `t=${NOW_S}`))).toBe(
      'signature_mismatch',
    )
  })

  test('a forger learns nothing about the clock: the digest is checked first', () => {
    expect(evaluate(BODY, sign(NOW_S - 9_999, BODY, 'whsec_other'))).toBe('signature_mismatch')
  })

  test.each([
    [undefined, 'missing_signature'],
    [null, 'missing_signature'],
    ['', 'missing_signature'],
    [[], 'missing_signature'],
    ['v1=abc', 'malformed_signature'],
    [`t=${NOW_S}`, 'malformed_signature'],
    [`t=${NOW_S},v1=`, 'malformed_signature'],
    [`t=${NOW_S},v1=${'0'.repeat(63)}`, 'malformed_signature'],
    [`t=${NOW_S},v1=${'0'.repeat(66)}`, 'malformed_signature'],
    [`t=${NOW_S},v1=${'z'.repeat(64)}`, 'malformed_signature'],
    [`t=${NOW_S},v1=${'é'.repeat(64)}`, 'malformed_signature'],
    [`t=-1,v1=${'0'.repeat(64)}`, 'malformed_signature'],
    [`t=1e9,v1=${'0'.repeat(64)}`, 'malformed_signature'],
    [`t=,v1=${'0'.repeat(64)}`, 'malformed_signature'],
    [`t=NaN,v1=${'0'.repeat(64)}`, 'malformed_signature'],
    [`t=${NOW_S},t=${NOW_S},v1=${'0'.repeat(64)}`, 'malformed_signature'],
    [`t=${NOW_S},v1=${'0'.repeat(64)}`, 'signature_mismatch'],
  ])('the header %j is %s', (header, verdict) => {
    expect(evaluate(BODY, header)).toBe(verdict)
  })

  test('only the form that is sent is taken, in a list of one too', () => {
    expect(evaluate(BODY, [sign(NOW_S, BODY)])).toBe(null)
    expect(evaluate(BODY, [sign(NOW_S, BODY), sign(NOW_S, BODY)])).toBe('malformed_signature')
    expect(evaluate(BODY, sign(NOW_S, BODY).replace('v1', 'v0'))).toBe('malformed_signature')
  })

  test('while an endpoint is replaced, either of two secrets verifies', () => {
    expect(evaluate(BODY, sign(NOW_S, BODY), ['whsec_new', SECRET])).toBe(null)
    expect(evaluate(BODY, sign(NOW_S, BODY), ['whsec_new', 'whsec_newer'])).toBe('signature_mismatch')
  })

  test.each([
    'not json',
    '[]',
    'null',
    '{}',
    '{"object":"event"}',
    '{"object":"invoice","id":"a","type":"b","data":{"object":{}}}',
    '{"object":"event","id":"a","type":"b","data":{}}',
    '{"object":"event","id":"a","type":"b","data":{"object":null}}',
  ])('the well signed body %j is no event', (body) => {
    expect(evaluate(body, sign(NOW_S, body))).toBe('malformed_event')
  })

  test('bytes that are no UTF-8 are verified as bytes', () => {
    const bytes = new Uint8Array([0xff, 0xfe])
    expect(evaluate(bytes, sign(NOW_S, bytes))).toBe('malformed_event')
    expect(evaluate(new Uint8Array([0xff, 0xfd]), sign(NOW_S, bytes))).toBe('signature_mismatch')
  })

  /** An HMAC under an empty or missing secret can be made by anybody. */
  test.each([['', undefined, null, [], [''], ['whsec_a', '']]].flat().map((secret) => [secret]))(
    'the secret %j is refused',
    (secret) => {
      const forged = sign(NOW_S, BODY, '')
      expect(() => verifyWebhook(BODY, forged, secret as string)).toThrow(TypeError)
    },
  )

  test('a parsed body is refused with the reason', () => {
    const parsed = JSON.parse(BODY) as string
    expect(() => verifyWebhook(parsed, sign(NOW_S, BODY), SECRET)).toThrow('raw request body')
  })
})
