import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readEnvironment } from '#scripts/start/environment.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/delivery-model.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { type ReceivedRequest, startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { openWorld, type World } from '#test/support/world.ts'

const ENDPOINTS = 50
/** Requests that one dispatcher has in flight at most; what is in flight when it dies may come twice. */
const IN_FLIGHT_MAX = 640
/** Locks of a killed process run out, and their endpoints go on, within this. */
const RESUME_AFTER_KILL_MS = 12_000
/** After a wipe within 3 s; the rest is for a machine that does other things as well. */
const RESUME_AFTER_WIPE_MS = 5_000
const DONE_MS = 150_000

describe('webhooks go on', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-outages-'))
  let stack: Stack
  let world: World
  let db: Database
  let receiver: WebhookReceiver
  let masterKey: Uint8Array

  beforeAll(async () => {
    stack = await startStack({ dataDir, processes: true })
    world = await openWorld(dataDir, stack.dev)
    const { stores, secrets } = parseConfig(readEnvironment(dataDir) ?? {})
    masterKey = secrets.masterKey[0]
    const logger = createLogger({ name: 'test', level: 'silent' })
    db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
    receiver = await startWebhookReceiver()
  })
  afterAll(async () => {
    await receiver?.close()
    await db?.close()
    await world?.close()
    await stack?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** Pending deliveries over many endpoints, found by the sweep of whoever runs; returns their ids. */
  const give = async (total: number): Promise<readonly string[]> => {
    const box = createSecretBox(masterKey)
    const made = await Promise.all(
      Array.from({ length: ENDPOINTS }, () => givePending(db, box, total / ENDPOINTS, { url: receiver.url })),
    )
    return made.flatMap(({ deliveryIds }) => deliveryIds)
  }
  const arrivals = (ids: ReadonlySet<string>): readonly ReceivedRequest[] =>
    receiver.requests.filter(({ headers }) => ids.has(String(headers['x-webhook-id'])))
  const untilArrived = (ids: ReadonlySet<string>, count: number) =>
    vi.waitFor(() => expect(arrivals(ids).length).toBeGreaterThanOrEqual(count), { timeout: DONE_MS, interval: 20 })
  const untilDone = (ids: readonly string[]) =>
    vi.waitFor(
      async () => {
        const left = await db
          .collection(WEBHOOK_DELIVERIES)
          .countDocuments({ _id: { $in: [...ids] }, status: 'pending' })
        expect(left).toBe(0)
      },
      { timeout: DONE_MS, interval: 200 },
    )
  /** Everything arrived, and each row took exactly one recorded attempt. */
  const expectAllOnce = async (ids: readonly string[]) => {
    await untilDone(ids)
    const rows = await db
      .collection(WEBHOOK_DELIVERIES)
      .find({ _id: { $in: [...ids] } })
      .toArray()
    expect(new Set(rows.map(({ status, attempt }) => `${status} ${attempt}`))).toEqual(new Set(['succeeded 1']))
    const sent = arrivals(new Set(ids)).map(({ headers }) => headers['x-webhook-id'])
    expect(new Set(sent).size).toBe(ids.length)
    return sent.length - ids.length
  }

  // Guarantee: a dispatcher that dies with work in its hands costs some duplicates under the same ids, and no attempt.
  test('after kill -9 of a dispatcher with 10,000 pending rows', { timeout: 2 * DONE_MS }, async () => {
    const ids = await give(10_000)
    const own = new Set(ids)
    await untilArrived(own, 500)
    stack.kill('webhooks', 'SIGKILL')
    await stack.restart('webhooks')
    const backAt = Date.now()
    const before = arrivals(own).length
    await vi.waitFor(() => expect(arrivals(own).length).toBeGreaterThan(before), {
      timeout: RESUME_AFTER_KILL_MS,
      interval: 20,
    })
    expect(Date.now() - backAt).toBeLessThan(RESUME_AFTER_KILL_MS)
    expect(await expectAllOnce(ids)).toBeLessThanOrEqual(IN_FLIGHT_MAX)
  })

  test('after Redis is emptied, without a duplicate', { timeout: 2 * DONE_MS }, async () => {
    const ids = await give(3_000)
    const own = new Set(ids)
    await untilArrived(own, 200)
    const redis = new Redis(stack.dev.redisUrl)
    await redis.flushall()
    redis.disconnect()
    const wipedAt = Date.now()
    expect(await expectAllOnce(ids)).toBe(0)
    const times = [wipedAt, ...arrivals(own).map(({ receivedAt }) => receivedAt)]
      .filter((at) => at >= wipedAt)
      .sort((a, b) => a - b)
    const pauses = times.map((at, index) => at - (times[index - 1] ?? at))
    expect(Math.max(...pauses)).toBeLessThan(RESUME_AFTER_WIPE_MS)
  })

  // Guarantee: Redis is a convenience; without it invoices are created and webhooks arrive.
  test('while Redis is down, and the API answers', { timeout: 2 * DONE_MS }, async () => {
    process.kill(Number(readFileSync(join(dataDir, 'redis', 'redis-server.pid'), 'utf8')), 'SIGKILL')
    const ids = await give(2_000)
    expect(await expectAllOnce(ids)).toBe(0)
    const invoice = await world.createInvoice()
    await world.waitForEvent(invoice.id, 'invoice.created', 30_000)
  })
})
