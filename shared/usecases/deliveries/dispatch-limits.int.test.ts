import { expect, test } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { useDispatchStage } from '#test/support/dispatch-stage.ts'
import { useStores } from '#test/support/stores.ts'

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
  // A turn is bounded by time as well; on a slow machine that would come first.
  const now = stores.runtime.clock.now()
  const sender = dispatcher({ clock: { now: () => now } })
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
