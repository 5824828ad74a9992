import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createRedisEpochRepository } from '#shared/db/installation/redis-epoch-repository.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { patientRedis } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { watchRedisEpoch } from './redis-epoch.ts'

const stores = useStores()
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})
/** Waits for a slow Redis, unlike the product's connection. */
let producer: ReturnType<typeof patientRedis>['producer']
beforeAll(() => {
  producer = patientRedis(stores.redis).producer
})
const soon = { timeout: 10_000, interval: 10 }
const key = () => `${stores.redis.prefix}:life`

/** A process that watches, with the changes it noticed. */
function watching() {
  const seen = { changes: 0, counted: 0 }
  const metrics: Metrics = {
    count: (name, _labels, by = 1) => {
      if (name === 'redis_epoch_changes_total') seen.counted += by
    },
    gauge: () => undefined,
    observe: () => undefined,
  }
  const watch = watchRedisEpoch(stores.redis, { ...stores.runtime, metrics }, createRedisEpochRepository(stores.db), 20)
  watch.onChange(() => {
    seen.changes += 1
  })
  endings.push(() => watch.stop())
  return seen
}

const stored = () => createRedisEpochRepository(stores.db).read()
const same = async () => {
  const [inRedis, inStore] = [await producer.get(key()), await stored()]
  expect(inRedis).not.toBeNull()
  expect(inStore).toBe(inRedis)
  return inRedis
}

test('the first mark is no change, a wiped Redis is one in every process, and so is a replaced one', async () => {
  const [one, two] = [watching(), watching()]
  const first = await vi.waitFor(same, soon)
  expect([one.changes, two.changes]).toEqual([0, 0])

  await producer.del(key())
  await vi.waitFor(() => expect([one.changes, two.changes]).toEqual([1, 1]), soon)
  const second = await vi.waitFor(same, soon)
  expect(second).not.toBe(first)

  await producer.set(key(), 'another life')
  await vi.waitFor(() => expect([one.changes, two.changes]).toEqual([2, 2]), soon)
  await vi.waitFor(async () => expect(await stored()).toBe('another life'), soon)
  expect([one.counted, two.counted]).toEqual([2, 2])
})

test('a Redis that was wiped while no process ran is noticed at the next start', async () => {
  watching()
  await vi.waitFor(same, soon)
  for (const end of endings.splice(0)) await end()
  await producer.del(key())
  const later = watching()
  await vi.waitFor(() => expect(later.changes).toBe(1), soon)
})
