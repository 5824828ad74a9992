import { beforeEach, expect, it } from 'vitest'
import type { DeliveryOutcome } from '#shared/ports/deliveries.ts'
import { sampleDelivery } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { createDeliveryRepository } from './delivery-repository.ts'

const stores = useStores()
const rows = () => stores.db.collection(WEBHOOK_DELIVERIES)
beforeEach(() => rows().deleteMany({}))
const LISTS = ['delivery_list', 'delivery_list_of_endpoint']

/** One attempt of every delivery of an endpoint, with its result. */
async function attemptAll(endpointId: string, resultOf: (id: string) => DeliveryOutcome['result'], number: number) {
  const repository = createDeliveryRepository(stores.db)
  const token = stores.runtime.random.uuid()
  const due = await repository.findDue([{ endpointId, limit: 100 }], null)
  await repository.claim(due, token, 30_000)
  const attempt = {
    number,
    at: 5_000,
    durationMs: 1,
    statusCode: 500,
    error: null,
    ip: null,
    phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    responseBody: '',
  }
  await repository.finish(
    due.map(({ id }) => ({ deliveryId: id, leaseToken: token, result: resultOf(id), retryAfterMs: 0, attempt })),
  )
  return due.length
}

async function fresh(count: number): Promise<string> {
  const endpointId = stores.runtime.random.uuid()
  const made = Array.from({ length: count }, (_, index) =>
    sampleDelivery(`whd_${stores.runtime.random.uuid()}_${index}`, { endpointId, createdAt: 1_000 + index }),
  )
  await createDeliveryRepository(stores.db).insertMany(made)
  return endpointId
}

// Guarantee: lists for people cost the sending of webhooks one entry per delivery, written with the row and never again.
it('the indexes of lists hold every delivery under keys that no outcome changes', async () => {
  const indexes = (await rows().indexes()).filter(({ name }) => LISTS.includes(name ?? ''))
  expect(indexes.map(({ name }) => name).sort()).toEqual(LISTS)
  const fields = new Set(indexes.flatMap(({ key }) => Object.keys(key)))
  const changed = new Set<string>()
  for (const results of [['retry', 'succeeded'], ['retry', 'failed'], ['succeeded']] as const) {
    const endpointId = await fresh(1)
    for (const [turn, result] of results.entries()) {
      const before = await rows().findOne({ endpointId })
      expect(await attemptAll(endpointId, () => result, turn + 1)).toBe(1)
      const after: Readonly<Record<string, unknown>> = (await rows().findOne({ endpointId })) ?? {}
      for (const [name, value] of Object.entries(before ?? {})) {
        if (JSON.stringify(value) !== JSON.stringify(after[name])) changed.add(name)
      }
    }
  }
  expect([...changed]).toEqual(expect.arrayContaining(['status', 'attempt', 'finishedAt']))
  expect([...changed].filter((name) => fields.has(name))).toEqual([])
  expect(indexes.filter((index) => 'partialFilterExpression' in index)).toEqual([])
})

it('the indexes of statuses hold failed and waiting deliveries only', async () => {
  const endpointId = await fresh(40)
  const results = new Map((await rows().find({ endpointId }).toArray()).map(({ _id }, index) => [_id, index]))
  const resultOf = (id: string) => {
    const index = results.get(id) ?? 0
    return index < 30 ? ('succeeded' as const) : index < 33 ? ('failed' as const) : ('retry' as const)
  }
  expect(await entries('delivery_waiting')).toBe(40)
  await attemptAll(endpointId, resultOf, 1)
  expect(await entries('delivery_waiting')).toBe(7)
  expect(await entries('delivery_failed')).toBe(3)
  expect(await entries('delivery_failed_by_endpoint')).toBe(3)
  for (const list of LISTS) expect(await entries(list)).toBe(40)
})

/** Entries of an index, counted by the server. */
async function entries(index: string): Promise<number> {
  const found = await stores.db.connection.db?.command({ validate: WEBHOOK_DELIVERIES.name })
  return found?.['keysPerIndex'][index]
}
