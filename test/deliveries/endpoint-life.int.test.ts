import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { start as startMaintenance } from '#services/maintenance/main.ts'
import { start as startWebhooks } from '#services/webhooks/main.ts'
import { requestRecovery } from '#shared/usecases/deliveries/recover.ts'
import { rotateEndpointSecret } from '#shared/usecases/endpoints/rotate-endpoint-secret.ts'
import { sendTestEvent } from '#shared/usecases/endpoints/send-test-event.ts'
import { setEndpointStatus } from '#shared/usecases/endpoints/set-endpoint-status.ts'
import { checkWebhook, verifyStandardWebhook } from '#test/support/check-webhook.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const stores = useStores()
const stage = deliveryStage(stores)
let receiver: WebhookReceiver
let stops: Stop[] = []
const actor = 'cli:test'
const soon = { timeout: 20_000, interval: 50 }

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  stops = await Promise.all([startWebhooks, startMaintenance].map((start) => start(stage.context())))
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  await receiver.close()
})

const testEvent = (endpointId: string) =>
  sendTestEvent(stage.ports(), { endpointId, mode: null, opId: randomUUID(), actor })

test('a test event arrives signed, and its attempt says where the time went', async () => {
  const endpoint = await stage.endpoint({ url: receiver.url })
  const { id } = await testEvent(endpoint.id)
  const [request] = await receiver.waitForCount(1)
  if (request === undefined) throw new Error('one request')
  expect(request.headers).toMatchObject({ 'x-webhook-id': id, 'x-webhook-event': 'webhook.test' })
  expect(checkWebhook(request, endpoint.secret, request.receivedAt)).toBe('valid')
  const attempts = await vi.waitFor(async () => {
    const found = await stage.ports().deliveries.listAttempts(id)
    expect(found).toHaveLength(1)
    return found
  }, soon)
  const phases = { connectMs: expect.any(Number), tlsMs: null, firstByteMs: expect.any(Number) }
  expect(attempts[0]).toMatchObject({ number: 1, statusCode: 200, error: null, phases })
})

// Guarantee: during a rotation verifiers with the old secret go on for the agreed time, and not a moment longer.
deepTest(
  'after a rotation the new secret signs, and the old one only the list header until its time is over',
  async () => {
    const endpoint = await stage.endpoint({ url: receiver.url })
    const rotate = (overlapMs: number) =>
      rotateEndpointSecret(stage.ports(), { endpointId: endpoint.id, overlapMs, opId: randomUUID(), actor })
    const { secret } = await rotate(60_000)
    await testEvent(endpoint.id)
    const [during] = await receiver.waitForCount(1)
    if (during === undefined) throw new Error('one request')
    expect(checkWebhook(during, secret, during.receivedAt)).toBe('valid')
    expect(checkWebhook(during, endpoint.secret, during.receivedAt)).not.toBe('valid')
    expect(during.headers['x-webhook-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    expect([secret, endpoint.secret].map((each) => verifyStandardWebhook(during, each))).toEqual([true, true])

    const { secret: newest } = await rotate(0)
    await testEvent(endpoint.id)
    const [, after] = await receiver.waitForCount(2)
    if (after === undefined) throw new Error('two requests')
    expect([newest, secret, endpoint.secret].map((each) => verifyStandardWebhook(after, each))).toEqual([
      true,
      false,
      false,
    ])
  },
)

deepTest('a disabled endpoint gets nothing, then what was held, and by a recovery what it missed', async () => {
  const endpoint = await stage.endpoint({ url: receiver.url })
  const set = (status: 'enabled' | 'disabled') =>
    setEndpointStatus(stage.ports(), { endpointId: endpoint.id, status, actor })
  await set('disabled')
  const [held, missed] = await stage.events(endpoint.workspaceId, 2)
  if (held === undefined || missed === undefined) throw new Error('two events')
  // As from a relay that read the endpoint a moment before: the dispatcher puts it aside without a request.
  const { id } = await stage.delivery(endpoint, held)
  await vi.waitFor(async () => {
    expect(await stage.ports().deliveries.findById(id)).toMatchObject({ status: 'held', attempt: 0, leaseToken: null })
  }, soon)
  expect(receiver.requests).toHaveLength(0)

  await set('enabled')
  await vi.waitFor(
    async () => expect(await stage.ports().deliveries.findById(id)).toMatchObject({ status: 'succeeded' }),
    soon,
  )
  const request = {
    endpointId: endpoint.id,
    since: 1,
    until: null,
    scope: 'failed',
    opId: randomUUID(),
    actor,
  } as const
  await requestRecovery(stage.ports(), request)
  const [, second] = await receiver.waitForCount(2)
  expect(second?.body.toString()).toContain(missed.id)
  await vi.waitFor(async () => {
    expect(await stage.ports().recoveries.findById(request.opId)).toMatchObject({ state: 'done', scanned: 2, made: 1 })
  }, soon)
  expect(receiver.requests).toHaveLength(2)
})
