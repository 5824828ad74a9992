import { expect, test } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { useDispatchStage } from '#test/support/dispatch-stage.ts'
import { useStores } from '#test/support/stores.ts'
import type { DispatchDeliveriesDeps } from './dispatch-process.ts'

const stores = useStores()
const { at, ports, dispatcher, given, turn, makeDue, delivery } = useDispatchStage(stores)

test('two processes on one endpoint send every row, each once', async () => {
  const { endpoint, rows } = await given(150)
  const senders = [dispatcher(), dispatcher()]
  const { deliveries } = ports()
  while ((await deliveries.nextDue(endpoint.id)) !== null) {
    await Promise.all(senders.map((sender) => sender.drain('normal', endpoint.id)))
    await Promise.all(senders.map((sender) => sender.idle()))
  }
  const sent = at.receiver.requests.map((request) => request.headers['x-webhook-id'])
  expect(new Set(sent)).toEqual(new Set(rows.map((row) => row.delivery.id)))
  expect(sent).toHaveLength(150)
})

test('a turn is bounded: after 64 sends the endpoint goes to the tail of its queue', async () => {
  const { endpoint } = await given(100)
  // A turn is bounded by time as well, and by a receiver that is slow; on a busy machine those would come first.
  const now = stores.runtime.clock.now()
  const sender = dispatcher({ clock: { now: () => now }, stopwatch: () => now })
  await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(64)
  expect(at.wakeUps).toEqual([{ queue: 'webhooks', id: endpoint.id }])
  await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(100)
})

test('no more requests are in flight than the cap, and the place of one that ends wakes the endpoint', async () => {
  const { endpoint } = await given(10)
  at.receiver.answer({ kind: 'hang' })
  const sender = dispatcher()
  await sender.drain('normal', endpoint.id)
  expect(await at.receiver.waitForCount(4)).toHaveLength(4)
  expect(at.wakeUps).toEqual([])
  const claimed = await stores.db.collection(WEBHOOK_DELIVERIES).countDocuments({ endpointId: endpoint.id, claims: 1 })
  expect(claimed).toBe(4)
  expect(await sender.overdue('normal')).not.toContain(endpoint.id)
})

test('an endpoint that hangs does not hold up another, and is served apart afterwards', async () => {
  const hanging = await given(4)
  const healthy = await given(5, { url: `${at.receiver.url}?healthy` })
  at.receiver.answer((request) =>
    request.path.endsWith('healthy') ? { kind: 'status', status: 200 } : { kind: 'hang' },
  )
  const impatient: Pick<typeof at.http, 'post'> = {
    post: (request) => at.http.post(request.url.endsWith('healthy') ? request : { ...request, timeoutMs: 400 }),
  }
  const sender = dispatcher({ http: impatient })
  await sender.drain('normal', hanging.endpoint.id)
  await sender.drain('normal', healthy.endpoint.id)
  await at.receiver.waitFor((request) => request.path.endsWith('healthy'))
  await sender.idle()
  expect((await delivery(healthy.only)).status).toBe('succeeded')
  expect(await delivery(hanging.only)).toMatchObject({ status: 'pending', attempt: 1, lastError: 'timeout' })
  at.wakeUps = []
  await sender.drain('normal', hanging.endpoint.id)
  expect(at.wakeUps).toEqual([{ queue: 'webhooks-slow', id: hanging.endpoint.id }])
  await makeDue(hanging.endpoint.id)
  expect(await sender.overdue('normal')).not.toContain(hanging.endpoint.id)
  expect(await sender.overdue('slow')).toContain(hanging.endpoint.id)
})

// Guarantee: what a process learned of a receiver ends by the time that passes, whatever the store's clock shows after a step.
test('a clock that was set back by an hour keeps no endpoint in the slow lane for that hour', async () => {
  const { endpoint } = await given(4)
  at.receiver.answer({ kind: 'hang' })
  const { clock, stopwatch } = ports()
  const steps = { clockMs: 0, passedMs: 0 }
  const sender = dispatcher({
    clock: { now: () => clock.now() + steps.clockMs },
    stopwatch: () => stopwatch() + steps.passedMs,
    http: { post: (request) => at.http.post({ ...request, timeoutMs: 300 }) },
  })
  await turn(sender, endpoint.id)
  await makeDue(endpoint.id, 7_200_000)
  expect(await sender.overdue('slow')).toEqual([endpoint.id])
  Object.assign(steps, { clockMs: -3_600_000, passedMs: 61_000 })
  expect(await sender.overdue('normal')).toEqual([endpoint.id])
})

/** Requests in flight, as the sender sees them, and at most so far. */
function counted(http: DispatchDeliveriesDeps['http'], of: (url: string) => boolean = () => true) {
  const seen = { now: 0, most: 0 }
  const post: typeof http.post = async (request) => {
    if (!of(request.url)) return await http.post(request)
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    return await http.post(request).finally(() => {
      seen.now -= 1
    })
  }
  return { seen, http: { ...http, post } }
}

const LANES = { normal: 512, slow: 256 }

// Guarantee: a healthy receiver gets as many requests at once as it needs, however long each takes.
test('a receiver that takes 700 ms gets twice as many at once after each round', async () => {
  const { endpoint, rows } = await given(60)
  at.receiver.answer({ kind: 'status', status: 200, delayMs: 700 })
  const { seen, http } = counted(at.http)
  const sender = dispatcher({ http, maxInFlight: LANES })
  const { deliveries } = ports()
  while ((await deliveries.nextDue(endpoint.id)) !== null) await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(rows.length)
  expect([seen.most >= 16, seen.most <= 64]).toEqual([true, true])
})

test('an endpoint has no more in flight than its own number, from the first request on', async () => {
  const { endpoint } = await given(10, { inFlightMax: 2 })
  at.receiver.answer({ kind: 'status', status: 200, delayMs: 20 })
  const { seen, http } = counted(at.http)
  const sender = dispatcher({ http, maxInFlight: LANES })
  while ((await ports().deliveries.nextDue(endpoint.id)) !== null) await turn(sender, endpoint.id)
  expect(seen.most).toBe(2)
  expect(at.receiver.requests).toHaveLength(10)
})

test('an endpoint that waits for its own requests is reported, one that keeps up is not', async () => {
  const [busy, quick] = [await given(10), await given(10)]
  at.receiver.answer(({ headers }) =>
    busy.rows.some(({ delivery: { id } }) => id === headers['x-webhook-id'])
      ? { kind: 'hang' }
      : { kind: 'status', status: 200 },
  )
  const sender = dispatcher({ maxInFlight: LANES })
  await Promise.all([sender.drain('normal', busy.endpoint.id), sender.drain('normal', quick.endpoint.id)])
  const limited = sender.takeLimited()
  expect(limited.get(busy.endpoint.id)).toEqual({ limit: 4, latencyMs: null, isFailing: false })
  expect(sender.takeLimited().size).toBe(0)
})

// Guarantee: however many endpoints a tenant has that answer after almost the whole deadline, others are served at once.
test('two hundred endpoints that hold their requests leave a quarter of the lane to those that answer quickly', async () => {
  const quick = await given(8)
  const sender = dispatcher({ maxInFlight: LANES })
  await turn(sender, quick.endpoint.id)
  const { url } = at.receiver
  const hostile = await Promise.all(Array.from({ length: 200 }, () => given(4, { url: `${url}/held` })))
  at.receiver.answer(({ path }) => (path.endsWith('/held') ? { kind: 'hang' } : { kind: 'status', status: 200 }))
  for (let from = 0; from < hostile.length; from += 32) {
    await Promise.all(hostile.slice(from, from + 32).map(({ endpoint }) => sender.drain('normal', endpoint.id)))
  }
  const held = () => at.receiver.requests.filter(({ path }) => path.endsWith('/held')).length
  expect(held()).toBeLessThanOrEqual(512 - 128)
  expect(held()).toBeGreaterThan(200)
  const before = at.receiver.requests.length
  await ports().deliveries.insertMany(
    quick.rows.map(({ delivery }) => ({ ...delivery, id: `${delivery.id}_2`, generation: 1 })),
  )
  await sender.drain('normal', quick.endpoint.id)
  await at.receiver.waitForCount(before + 8)
  expect(held()).toBe(before - 8)
})
