import { expect, test } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { checkWebhook, verifyStandardWebhook } from '#test/support/check-webhook.ts'
import { useDispatchStage } from '#test/support/dispatch-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { createDispatcher } from './dispatch.ts'

const stores = useStores()
const { at, ports, dispatcher, given, turn, makeDue, delivery } = useDispatchStage(stores)

test('a due row is sent once, signed for both kinds of verifiers, and recorded with its attempt', async () => {
  const { endpoint, secret, only, rows } = await given(1)
  at.receiver.answer({ kind: 'status', status: 204 })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(1)
  const [request] = at.receiver.requests
  if (request === undefined) throw new Error('nothing came')
  expect(request.body).toEqual(rows[0]?.event.body)
  expect(checkWebhook(request, secret, stores.runtime.clock.now())).toBe('valid')
  expect(verifyStandardWebhook(request, secret)).toBe(true)
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Paymesh-Webhooks/1.0',
    'x-webhook-id': only,
    'x-webhook-event': 'invoice.created',
    'webhook-id': rows[0]?.event.id,
  })
  const recorded = await delivery(only)
  expect(recorded).toMatchObject({ status: 'succeeded', attempt: 1, claims: 1, lastStatusCode: 204, lastError: null })
  expect(recorded.finishedAt).not.toBeNull()
  const attempts = await createDeliveryRepository(stores.db).listAttempts(only)
  expect(attempts).toMatchObject([{ number: 1, statusCode: 204, error: null, ip: '127.0.0.1' }])
})

// Guarantee: retries follow the schedule of the specification exactly, never early, and end after the ninth request.
test('each failure moves the due time by the next pause, and the ninth is the last', async () => {
  const { endpoint, only, secret } = await given(1)
  at.receiver.answer({ kind: 'status', status: 500, body: 'broken' })
  const sender = dispatcher()
  for (const [index, pause] of WEBHOOK_RETRY_DELAYS_MS.entries()) {
    await turn(sender, endpoint.id)
    const answeredAt = at.receiver.requests.at(-1)?.receivedAt ?? 0
    const row = await delivery(only)
    expect(row).toMatchObject({ status: 'pending', attempt: index + 1, lastError: 'status_500', leaseToken: null })
    expect(row.dueAt - answeredAt).toBeGreaterThanOrEqual(pause - 5)
    expect(row.dueAt - answeredAt).toBeLessThan(pause + 10_000)
    if (pause > 0) {
      await turn(sender, endpoint.id)
      expect(at.receiver.requests).toHaveLength(index + 1)
    }
    await makeDue(endpoint.id)
  }
  expect(at.wakeUps).toContainEqual({ queue: 'webhooks', id: endpoint.id })
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'failed', attempt: 9, lastStatusCode: 500 })
  expect((await delivery(only)).finishedAt).not.toBeNull()
  expect(at.receiver.requests).toHaveLength(9)
  expect(new Set(at.receiver.requests.map((request) => request.headers['x-webhook-id']))).toEqual(new Set([only]))
  expect(at.receiver.requests.every((request) => checkWebhook(request, secret, request.receivedAt) === 'valid')).toBe(
    true,
  )
})

test('500, then 200: the retry succeeds and nothing more is sent', async () => {
  const { endpoint, only } = await given(1)
  at.receiver.answer(() => ({ kind: 'status', status: at.receiver.requests.length === 1 ? 500 : 200 }))
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  await makeDue(endpoint.id)
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 2, claims: 2 })
  expect(at.receiver.requests).toHaveLength(2)
})

// Guarantee: a row that was written late, or by a machine whose clock is slow, waits for a sweep and no longer.
test('a row that appears under an older due time than was looked for last is sent after the next sweep', async () => {
  const { endpoint, only } = await given(1)
  at.receiver.answer(() => ({ kind: 'status', status: at.receiver.requests.length === 1 ? 500 : 200 }))
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  await makeDue(endpoint.id, 60_000)
  expect(await sender.overdue('normal')).toContain(endpoint.id)
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 2 })
})

test('a redirect is a failure and is not followed', async () => {
  const { endpoint, only } = await given(1)
  at.receiver.answer({ kind: 'status', status: 301, headers: { location: at.receiver.url } })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'pending', lastError: 'status_301' })
  expect(at.receiver.requests).toHaveLength(1)
})

// Guarantee: a sender that dies between sending and recording costs a duplicate with the same ids, never an attempt.
test('killed between send and outcome: sent again under the same ids, no attempt consumed', async () => {
  const { endpoint, only, rows } = await given(1)
  const killed = dispatcher({
    deliveries: { ...ports().deliveries, finish: () => new Promise(() => undefined), release: async () => undefined },
  })
  await killed.drain('normal', endpoint.id)
  await at.receiver.waitForCount(1)
  at.dispatchers = []
  expect(await delivery(only)).toMatchObject({ status: 'pending', attempt: 0, claims: 1 })
  const survivor = dispatcher()
  await turn(survivor, endpoint.id)
  expect(at.receiver.requests).toHaveLength(1)
  await makeDue(endpoint.id)
  await turn(survivor, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 2 })
  expect(at.receiver.requests.map((request) => request.headers['x-webhook-id'])).toEqual([only, only])
  expect(at.receiver.requests.map((request) => request.headers['webhook-id'])).toEqual(Array(2).fill(rows[0]?.event.id))
})

test('an outcome under a lost lease changes nothing', async () => {
  const { endpoint, only } = await given(1)
  at.receiver.answer({ kind: 'status', status: 500 })
  const zombie = dispatcher({
    deliveries: {
      ...ports().deliveries,
      finish: async (outcomes) => {
        await makeDue(endpoint.id)
        at.receiver.answer({ kind: 'status', status: 200 })
        await turn(other, endpoint.id)
        await ports().deliveries.finish(outcomes)
      },
    },
  })
  const other = dispatcher()
  await turn(zombie, endpoint.id)
  expect(await delivery(only)).toMatchObject({ status: 'succeeded', attempt: 1, lastStatusCode: 200 })
})

test('stopping gives back what is cut off, at once and without consuming an attempt', async () => {
  const { endpoint, only } = await given(1)
  at.receiver.answer({ kind: 'hang' })
  const own = createWebhookHttp()
  const sender = createDispatcher({ ...ports(), http: own })
  await sender.drain('normal', endpoint.id)
  await at.receiver.waitForCount(1)
  const stopped = sender.stop()
  await own.close()
  await stopped
  const row = await delivery(only)
  expect(row).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
  expect(row.dueAt).toBeLessThanOrEqual(stores.runtime.clock.now() + 1_000)
})

test('the sweep names what waits for more than a second and wakes for what falls due next', async () => {
  const { endpoint: late } = await given(1)
  const { endpoint: soon, only } = await given(1)
  await makeDue(late.id)
  const now = stores.runtime.clock.now()
  const dueAt = new Date(now + 300)
  await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: only }, { $set: { dueAt } })
  let wakeUp = (): void => undefined
  const delays: number[] = []
  const sender = dispatcher({
    clock: { now: () => now },
    after: (delayMs, run) => {
      delays.push(delayMs)
      wakeUp = run
      return () => undefined
    },
  })
  const found = await sender.overdue('normal')
  expect(found).toContain(late.id)
  expect(found).not.toContain(soon.id)
  expect(delays.some((delay) => delay > 0 && delay <= 300)).toBe(true)
  wakeUp()
  expect(at.wakeUps).toContainEqual({ queue: 'webhooks', id: soon.id })
})
