import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { superviseProcess } from '#scripts/start/supervised-process.ts'
import { start as startWebhooks } from '#services/webhooks/main.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { useFirstAttempts } from '#test/support/first-attempts-stage.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useFirstAttempts(stores)
const SETTINGS = { PAYMESH_ENV: 'test', PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true' }
const soon = { timeout: 20_000, interval: 50 }
let folder: string
beforeAll(() => {
  folder = makeStoreFolder('paymesh-first-attempts')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Guarantee: a process that is killed during a first attempt loses nothing, uses up no attempt and leaves no attempt behind.
test('a process that is killed between insert and outcome leaves a row that is sent once more', {
  timeout: 300_000,
}, async () => {
  stage.receiver.answer({ kind: 'hang' })
  const log = openSync(join(folder, 'webhooks.log'), 'a')
  const killed = await superviseProcess({
    line: { name: 'webhooks', command: process.execPath, args: ['scripts/service.mjs', 'webhooks'] },
    environment: {
      ...SETTINGS,
      MONGO_URL: stores.mongoUrl,
      REDIS_URL: stores.redisUrl,
      PAYMESH_MONGO_DATABASE: stores.database,
      PAYMESH_REDIS_PREFIX: stores.prefix,
      PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
    },
    ...{ metricsPort: await freePort(0), log, keepAlive: false, report: () => undefined, changed: () => undefined },
  })
  try {
    await killed.ready(120_000)
    const { id, shard } = await stage.invoice()
    await stage.receiver.waitForCount(1)
    killed.kill('SIGKILL')
    await vi.waitFor(() => expect(killed.pid()).toBeNull(), soon)
    const row = (await stage.deliveryOf(id)) ?? expect.fail('no delivery')
    expect(row).toMatchObject({ status: 'pending', attempt: 0, claims: 1, leaseToken: expect.any(String) })

    stage.receiver.answer({ kind: 'status', status: 200 })
    const other = stage.process()
    await other.relay.relayShard(shard)
    await other.dispatcher.drain('normal', stage.endpointId)
    await other.dispatcher.idle()
    expect(stage.receiver.requests).toHaveLength(1)
    // Instead of 20 s: the lease is over.
    await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: row.id }, { $set: { dueAt: new Date(0) } })
    await other.dispatcher.drain('normal', stage.endpointId)
    await other.dispatcher.idle()
    expect(stage.receiver.requests.map(({ headers }) => headers['x-webhook-id'])).toEqual([row.id, row.id])
    expect(await stage.deliveryOf(id)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 2 })
    expect(await stage.engine.deps.deliveries.listAttempts(row.id)).toMatchObject([{ number: 1, statusCode: 200 }])
    await other.trimmer.flush()
    await vi.waitFor(async () => expect(await stage.outboxOf(id)).toBe(0), soon)
  } finally {
    await killed.stop()
    closeSync(log)
  }
})

// Guarantee: Redis only wakes; without it first attempts leave with the next sweep.
test('first attempts leave while Redis is away', async () => {
  const url = `redis://127.0.0.1:${await freePort(0)}`
  const redis = connectRedis({ url, prefix: stores.prefix, logger: stores.runtime.logger })
  const stop = await startWebhooks({ ...serviceContext(stores, SETTINGS), signals: createRedisSignals(redis) })
  try {
    const made = await stage.invoices(3)
    await stage.receiver.waitForCount(3)
    await vi.waitFor(async () => {
      for (const { id } of made) {
        expect(await stage.deliveryOf(id)).toMatchObject({ status: 'succeeded', attempt: 1, claims: 1 })
        expect(await stage.outboxOf(id)).toBe(0)
      }
    }, soon)
    expect(stage.receiver.requests).toHaveLength(3)
  } finally {
    await stop()
    await redis.close()
  }
})
