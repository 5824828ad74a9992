import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startMongoAlone } from '#dev/embedded/stores.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useFirstAttempts } from '#test/support/first-attempts-stage.ts'
import { standIn } from '#test/support/stand-in.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

/** Clocks and Redis of the run; its own MongoDB, because an election would disturb all other files. */
const stores = useStores()
let db: Database
let end: () => Promise<unknown> = async () => undefined
const START_MS = 120_000

beforeAll(async () => {
  const dataDir = makeStoreFolder('paymesh-first-attempts')
  const mongo = await startMongoAlone({ dataDir, report: () => undefined, mongoUrl: null })
  db = await connectDatabase({ url: mongo.mongoUrl, name: 'elections', logger: stores.runtime.logger })
  await migrate(db)
  end = async () => {
    await db.close()
    await mongo.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}, START_MS)
afterAll(() => end(), START_MS)
const stage = useFirstAttempts(Object.create(stores, { db: { get: () => db } }) as typeof stores)

/** The primary steps down; the set has no other member, so it is elected again after a second. */
async function stepDown(): Promise<void> {
  await db.connection
    .getClient()
    .db('admin')
    .command({ replSetStepDown: 1, force: true })
    .catch(() => undefined)
}

// Guarantee: an election during first attempts loses nothing, and sends nothing early or without a record.
test.each(sampleOf(['between the events and the rows', 'during the requests'] as const, 1))(
  'a primary that steps down %s delays first attempts and loses none',
  { timeout: 300_000 },
  async (when) => {
    const { deps } = stage.engine
    let elections = 0
    const elect = async (): Promise<void> => {
      elections += 1
      if (elections === 1) await stepDown()
    }
    stage.receiver.answer(() => {
      if (when === 'during the requests') void elect()
      return { kind: 'status', status: 200, delayMs: 200 }
    })
    const one = stage.process({
      relay: {
        deliveries: standIn({
          insertMany: async (rows) => {
            if (when === 'between the events and the rows') await elect()
            return await deps.deliveries.insertMany(rows)
          },
        }),
      },
    })
    const made = await stage.invoices(4)
    const shards = [...new Set(made.map(({ shard }) => shard))]
    // As the sweeps do: a round that failed is repeated.
    await vi.waitFor(
      async () => {
        await Promise.all(shards.map((shard) => one.relay.relayShard(shard)))
        await one.dispatcher.drain('normal', stage.endpointId)
        await one.dispatcher.idle()
        const rows = await Promise.all(made.map(({ id }) => stage.deliveryOf(id)))
        expect(rows.map((row) => row?.status)).toEqual(made.map(() => 'succeeded'))
      },
      { timeout: 120_000, interval: 200 },
    )
    expect(elections).toBeGreaterThan(0)
    const rows = await Promise.all(made.map(({ id }) => stage.deliveryOf(id)))
    for (const row of rows) {
      if (row === null) expect.fail('no delivery')
      const sent = stage.receiver.requests.filter(({ headers }) => headers['x-webhook-id'] === row.id)
      // No request without a claim; a claim whose answer the election lost sent nothing and was made again.
      expect(sent.length).toBeGreaterThan(0)
      expect(sent.length).toBeLessThanOrEqual(row.claims)
      expect(row.attempt).toBe(1)
      expect(await deps.deliveries.listAttempts(row.id)).toHaveLength(1)
    }
    await one.trimmer.flush()
    await vi.waitFor(
      async () => {
        await Promise.all(shards.map((shard) => one.relay.relayShard(shard)))
        await one.trimmer.flush()
        for (const { id } of made) expect(await stage.outboxOf(id)).toBe(0)
      },
      { timeout: 20_000, interval: 200 },
    )
  },
)
