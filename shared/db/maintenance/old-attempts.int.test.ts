import { beforeEach, describe, expect, it } from 'vitest'
import { toDate } from '#shared/db/connection/dates.ts'
import { type EmbeddedAttempt, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository, deliveryToDocument } from '#shared/db/deliveries/delivery-repository.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { keepRetention } from '#shared/usecases/maintenance/keep-retention.ts'
import { sampleDelivery } from '#test/support/db-samples.ts'
import { dyingDatabase, ProcessKilled } from '#test/support/dying-database.ts'
import { useStores } from '#test/support/stores.ts'
import { createRetentionRepository, removeOldAttempts } from './retention-repository.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2030, 0, 31)
const stores = useStores()
const rows = () => stores.db.collection(WEBHOOK_DELIVERIES)
beforeEach(() => rows().deleteMany({}))

/** A delivery with an attempt at each of these ages, in days. */
async function tried(ages: readonly number[], status: 'succeeded' | 'held' | 'pending' = 'succeeded'): Promise<string> {
  const id = `whd_${stores.runtime.random.uuid()}`
  const attempts = ages.map((age, index): EmbeddedAttempt => {
    const at = toDate(NOW - age * DAY_MS)
    const answer = {
      statusCode: 200,
      error: null,
      ip: null,
      phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
      responseBody: `answer ${age}`,
    }
    return { number: index + 1, at, durationMs: 1, ...answer, token: `t-${index}` }
  })
  const [first] = attempts
  await rows().insertOne({
    ...deliveryToDocument(sampleDelivery(id, { status, attempt: ages.length, leaseToken: 'held by one' })),
    ...(first !== undefined && { attempts, attemptsFrom: first.at }),
  })
  return id
}

const answers = async (id: string) => (await rows().findOne({ _id: id }))?.attempts?.map((one) => one.responseBody)

async function keep(now = NOW) {
  const metrics = createMetrics({ defaults: false })
  const retention = createRetentionRepository(stores.db)
  const removed = await keepRetention({ retention, metrics, clock: { now: () => now } }, () => false)
  return { removed, text: await metrics.render() }
}

describe('answers of receivers', () => {
  // Guards privacy: what receivers answered is gone 30 days after it was received, however long the delivery stays.
  it.each(['succeeded', 'held', 'pending'] as const)(
    'are removed after 30 days from a delivery that is %s',
    async (status) => {
      const [old, mixed, young, never] = [
        await tried([40], status),
        await tried([31, 30.01, 29.99, 3], status),
        await tried([29], status),
        await tried([], status),
      ]
      const { removed, text } = await keep()
      expect(removed).toBe(2)
      expect(text).toContain('paymesh_retention_overdue_seconds{collection="webhook_deliveries.attempts"} 0')
      expect(await answers(old)).toBeUndefined()
      expect(Object.keys((await rows().findOne({ _id: old })) ?? {})).not.toContain('attemptsFrom')
      expect(await answers(mixed)).toEqual(['answer 29.99', 'answer 3'])
      expect(await answers(young)).toEqual(['answer 29'])
      expect(await answers(never)).toBeUndefined()
      expect(await rows().findOne({ _id: mixed })).toMatchObject({ status, attempt: 4, leaseToken: 'held by one' })
      expect(await createDeliveryRepository(stores.db).listAttempts(old)).toEqual([])
      expect((await keep()).removed).toBe(0)
      expect((await keep(NOW + 2 * DAY_MS)).removed).toBe(2)
    },
  )

  it('are removed while a scanner is far behind', async () => {
    const id = await tried([31])
    const retention = createRetentionRepository(stores.db)
    const behind = { ...retention, scannedThrough: async () => NOW - 90 * DAY_MS }
    await keepRetention({ retention: behind, metrics: createMetrics({}), clock: { now: () => NOW } }, () => false)
    expect(await answers(id)).toBeUndefined()
  })

  it('are removed in batches by processes that are killed before or after any write', async () => {
    for (const when of ['before', 'after'] as const) {
      const ids = [await tried([31, 2]), await tried([32]), await tried([33])]
      await expect(removeOldAttempts(dyingDatabase(stores.db, 1, when), NOW - 30 * DAY_MS, 2)).rejects.toThrow(
        ProcessKilled,
      )
      while ((await removeOldAttempts(stores.db, NOW - 30 * DAY_MS, 2)) > 0);
      expect(await Promise.all(ids.map(answers))).toEqual([['answer 2'], undefined, undefined])
    }
  })

  // Guards the store: the search for old answers reads no delivery that has none.
  it('are found through an index of the deliveries that have some', async () => {
    for (let count = 0; count < 20; count += 1) await tried([])
    for (const age of [31, 32, 5]) await tried([age])
    const plan = await rows()
      .find({ attemptsFrom: { $lt: toDate(NOW - 30 * DAY_MS) } }, { projection: { _id: 1 } })
      .sort({ attemptsFrom: 1 })
      .limit(10)
      .explain('executionStats')
    const { totalKeysExamined, totalDocsExamined } = plan['executionStats']
    expect([totalKeysExamined, totalDocsExamined]).toEqual([2, 2])
    const found = await stores.db.connection.db?.command({ validate: WEBHOOK_DELIVERIES.name })
    expect(found?.['keysPerIndex'].delivery_attempts).toBe(3)
  })
})
