import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { beforeAll, expect, test } from 'vitest'
import { verifyWebhook } from '#clients/typescript/src/main.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { checkWebhook } from '#test/support/check-webhook.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { useStores } from '#test/support/stores.ts'
import { type ReceivedRequest, startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createDispatcher } from './dispatch.ts'

const stores = useStores()
let captured: ReceivedRequest
let secret: string

/** One delivery as it comes over the wire. */
beforeAll(async () => {
  const receiver = await startWebhookReceiver()
  const http = createWebhookHttp()
  const secretBox = createSecretBox(randomBytes(32))
  const given = await givePending(stores.db, secretBox, 1, { url: receiver.url })
  const dispatcher = createDispatcher(dispatcherDeps(stores, { secretBox, http }))
  await dispatcher.drain('normal', given.endpoint.id)
  await dispatcher.stop()
  await http.close()
  await receiver.close()
  const [request] = receiver.requests
  if (request === undefined) throw new Error('nothing came')
  captured = request
  secret = given.secret
})

const header = (name: string): string => String(captured.headers[name])

test('the stripe package accepts the captured delivery, and refuses it under another secret', () => {
  const { webhooks } = new Stripe('sk_test_unused')
  const signature = header('x-webhook-signature')
  expect(webhooks.constructEvent(captured.body, signature, secret)).toMatchObject({ type: 'invoice.created' })
  expect(() => webhooks.constructEvent(captured.body, signature, `${secret}A`)).toThrow()
})

test('the standardwebhooks package accepts the same delivery, and refuses it under another secret', () => {
  const headers = Object.fromEntries(
    ['id', 'timestamp', 'signature'].map((name) => [`webhook-${name}`, header(`webhook-${name}`)]),
  )
  expect(new Webhook(secret).verify(captured.body, headers)).toMatchObject({ type: 'invoice.created' })
  const other = `whsec_${randomBytes(32).toString('base64')}`
  expect(() => new Webhook(other).verify(captured.body, headers)).toThrow()
})

// Guarantee: a captured delivery cannot be replayed later, nor one made for the future be kept back.
test('our client accepts it within 300 s and refuses it at 301 s in either direction', () => {
  const signature = header('x-webhook-signature')
  expect(verifyWebhook(captured.body, signature, secret)).toMatchObject({ type: 'invoice.created' })
  const sentAtMs = Number(header('x-webhook-timestamp')) * 1_000
  const evaluated = [-301, -300, 300, 301].map((second) => checkWebhook(captured, secret, sentAtMs + second * 1_000))
  expect(evaluated).toEqual(['timestamp_out_of_range', 'valid', 'valid', 'timestamp_out_of_range'])
})
