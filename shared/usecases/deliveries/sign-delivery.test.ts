import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkWebhook, verifyStandardWebhook } from '#test/support/check-webhook.ts'
import { type DeliveryToSign, signDelivery } from './send.ts'

const secret = `whsec_${randomBytes(32).toString('base64')}`
const older = `whsec_${randomBytes(32).toString('base64')}`
const nowS = Math.floor(Date.now() / 1_000)
const body = Buffer.from(
  '{"id":"evt_1","object":"event","type":"invoice.paid","data":{"object":{"amount":"1.10","note":"añ\\u00e9 🎉"}}}',
)

function signed(overrides: Partial<DeliveryToSign> = {}) {
  const headers = signDelivery({
    deliveryId: 'whd_1',
    eventId: 'evt_1',
    eventType: 'invoice.paid',
    body,
    timestampS: nowS,
    secrets: [secret],
    ...overrides,
  })
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body,
  }
}

test('every header of the specification is there', () => {
  const { headers } = signed()
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Paymesh-Webhooks/1.0',
    'x-webhook-id': 'whd_1',
    'x-webhook-event': 'invoice.paid',
    'x-webhook-timestamp': String(nowS),
    'webhook-id': 'evt_1',
  })
  expect(headers['x-webhook-signature']).toMatch(new RegExp(`^t=${nowS},v1=[0-9a-f]{64}$`))
})

test('the digest is the one of the specification, by a vector made with openssl', () => {
  // printf '1767225600.{"a":1}' | openssl dgst -sha256 -hmac whsec_c2VjcmV0
  const headers = signDelivery({
    deliveryId: 'whd_1',
    eventId: 'evt_1',
    eventType: 'webhook.test',
    body: Buffer.from('{"a":1}'),
    timestampS: 1_767_225_600,
    secrets: ['whsec_c2VjcmV0'],
  })
  expect(headers['X-Webhook-Signature']).toBe(
    't=1767225600,v1=424859e9d62f1387a2c1c0fbedf5ceb761964fea2dc874b7c23ee48802ef0f05',
  )
})

// Guarantee: what we send is accepted by a receiver, and nothing else is.
test('both kinds of receivers accept it, and refuse other bytes, secrets and times', () => {
  const request = signed()
  expect(checkWebhook(request, secret, nowS * 1_000)).toBe('valid')
  expect(verifyStandardWebhook(request, secret)).toBe(true)
  expect(checkWebhook({ ...request, body: Buffer.concat([body, Buffer.from(' ')]) }, secret, nowS * 1_000)).toBe(
    'signature_mismatch',
  )
  expect(checkWebhook(request, older, nowS * 1_000)).toBe('signature_mismatch')
  expect(verifyStandardWebhook(request, older)).toBe(false)
  expect(checkWebhook(request, secret, (nowS + 300) * 1_000)).toBe('valid')
  expect(checkWebhook(request, secret, (nowS + 301) * 1_000)).toBe('timestamp_out_of_range')
  expect(checkWebhook(request, secret, (nowS - 301) * 1_000)).toBe('timestamp_out_of_range')
})

test('during a rotation the older secret signs the standard header only', () => {
  const request = signed({ secrets: [secret, older] })
  expect(verifyStandardWebhook(request, older)).toBe(true)
  expect(verifyStandardWebhook(request, secret)).toBe(true)
  expect(checkWebhook(request, secret, nowS * 1_000)).toBe('valid')
  expect(checkWebhook(request, older, nowS * 1_000)).toBe('signature_mismatch')
})

test('an endpoint without a secret is never sent to unsigned', () => {
  expect(() => signed({ secrets: [] })).toThrow()
})
