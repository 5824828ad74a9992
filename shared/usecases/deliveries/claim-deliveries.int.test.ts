import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository, type DeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createDispatcher, type Dispatcher } from './dispatch.ts'
import type { DispatchDeliveriesDeps } from './dispatch-process.ts'

const stores = useStores()
const secretBox = createSecretBox(randomBytes(32))
let receiver: WebhookReceiver
let http: WebhookHttp
let dispatchers: Dispatcher[] = []

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  http = createWebhookHttp()
})
afterEach(async () => {
  await http.close()
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
  dispatchers = []
  await receiver.close()
})

const deliveries = () => createDeliveryRepository(stores.db)

function dispatcher(overrides: Partial<DispatchDeliveriesDeps> = {}): Dispatcher {
  const made = createDispatcher({ ...dispatcherDeps(stores, { secretBox, http }), ...overrides })
  dispatchers.push(made)
  return made
}

const give = (count: number) => givePending(stores.db, secretBox, count, { url: receiver.url })

async function row(id: string): Promise<Delivery> {
  const found = await deliveries().findById(id)
  if (found === null) throw new Error('the delivery is gone')
  return found
}

/** Repository whose claims are counted, and held until told. */
function held() {
  const groups: number[] = []
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const repository: DeliveryRepository = {
    ...deliveries(),
    claim: async (rows, ...rest) => {
      groups.push(new Set(rows.map(({ endpointId }) => endpointId)).size)
      await gate
      return deliveries().claim(rows, ...rest)
    },
  }
  return { groups, repository, go: () => go() }
}

test('endpoints that ask while claims are on their way share the next one, each within its own cap', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => give(6)))
  const { groups, repository, go } = held()
  receiver.answer({ kind: 'hang' })
  const sender = dispatcher({ deliveries: repository, maxInFlight: { normal: 512, slow: 256 } })
  const turns = all.map(({ endpoint }) => sender.drain('normal', endpoint.id))
  await expect.poll(() => groups.length).toBe(2)
  go()
  // Four requests to each: the cap at the start. Their turns end when they have waited for a place.
  await receiver.waitForCount(48)
  await Promise.all(turns)
  expect(groups.slice(0, 2)).toEqual([1, 1])
  // One row of each at first: how many more an endpoint may have is read with it.
  expect(Math.max(...groups)).toBeGreaterThanOrEqual(10)
  const claimed = await stores.db
    .collection(WEBHOOK_DELIVERIES)
    .aggregate([{ $match: { leaseToken: { $ne: null } } }, { $group: { _id: '$endpointId', rows: { $sum: 1 } } }])
    .toArray()
  const ours = claimed.filter(({ _id }) => all.some(({ endpoint }) => endpoint.id === _id))
  expect(ours.map(({ rows }) => rows)).toEqual(Array(12).fill(4))
})

// Guarantee: after an endpoint is deleted nothing more is claimed for it, and the others of its claim lose nothing.
test('an endpoint deleted in the middle of a shared claim is purged alone', async () => {
  const [first, doomed, other] = await Promise.all([give(1), give(2), give(2)])
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  // Held before the rows are found: the endpoints of a claim are looked up together with its write.
  const repository: DeliveryRepository = {
    ...deliveries(),
    findDue: async (...wanted) => {
      await gate
      return await deliveries().findDue(...wanted)
    },
  }
  const sender = dispatcher({ deliveries: repository })
  const turns = [first, first, doomed, other].map(({ endpoint }) => sender.drain('normal', endpoint.id))
  await createEndpointRepository(stores.db).remove(doomed.endpoint.id)
  go()
  await Promise.all(turns)
  await sender.idle()
  for (const id of doomed.deliveryIds) expect(await deliveries().findById(id)).toBeNull()
  for (const id of [...first.deliveryIds, ...other.deliveryIds]) expect(await row(id)).toMatchObject({ attempt: 1 })
  expect(receiver.requests.map(({ headers }) => headers['x-webhook-id']).sort()).toEqual(
    [...first.deliveryIds, ...other.deliveryIds].sort(),
  )
})

// Guarantee: a row whose lease could end during the request is not sent, and no attempt is consumed.
test('a claim that took so long that its lease might end first is not sent, and is given back on stop', async () => {
  const { endpoint, deliveryIds } = await give(1)
  let lateMs = 0
  const { clock } = stores.runtime
  const sender = dispatcher({
    clock: { now: () => clock.now() + lateMs },
    deliveries: {
      ...deliveries(),
      claim: async (...args) => {
        const rows = await deliveries().claim(...args)
        lateMs = 9_000
        return rows
      },
    },
  })
  await sender.drain('normal', endpoint.id)
  await sender.idle()
  expect(receiver.requests).toHaveLength(0)
  for (const id of deliveryIds) expect(await row(id)).toMatchObject({ status: 'pending', attempt: 0, claims: 1 })
  await sender.stop()
  for (const id of deliveryIds) expect(await row(id)).toMatchObject({ leaseToken: null, attempt: 0 })
})

test('a claim whose events cannot be read is given back at once', async () => {
  const { endpoint, only } = await give(1).then((made) => ({ ...made, only: made.deliveryIds[0] ?? '' }))
  const sender = dispatcher({ events: standIn({ findByIds: () => Promise.reject(new Error('the store is away')) }) })
  await expect(sender.drain('normal', endpoint.id)).rejects.toThrow('the store is away')
  expect(await row(only)).toMatchObject({ status: 'pending', attempt: 0, claims: 1, leaseToken: null })
  const healthy = dispatcher()
  await healthy.drain('normal', endpoint.id)
  await healthy.idle()
  expect(await row(only)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 2 })
})

// What holds across processes: the queue runs one turn of an endpoint at a time, but requests of an earlier turn may
// still be in flight, so the cap is one for each process and two processes hold at most two caps.
test('two dispatchers at one endpoint hold a cap each, and never the same row', async () => {
  const { endpoint } = await give(20)
  receiver.answer({ kind: 'hang' })
  const senders = [dispatcher(), dispatcher()]
  await Promise.all(senders.map((sender) => sender.drain('normal', endpoint.id)))
  await receiver.waitForCount(8)
  const sent = receiver.requests.map(({ headers }) => headers['x-webhook-id'])
  expect(new Set(sent).size).toBe(8)
  expect(sent).toHaveLength(8)
})
