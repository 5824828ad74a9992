import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SERVICE_NAMES } from '#scripts/service/services.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { deepTest } from '#test/support/depth.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { useRig } from '#test/support/use-rig.ts'
import { type ReceivedRequest, startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

/** Scripted faults on the real processes of one installation; random ones are those of `npm run chaos`. */
const world = useRig()

/** In `npm test` those on the way from a transfer to its webhook that hold state in their hands. */
const KILLED = EVERY_CASE ? SERVICE_NAMES : (['scanner', 'invoices', 'webhooks'] as const)

describe('every process may die in the middle of a payment', () => {
  test.each(KILLED)('kill -9 of %s', async (name) => {
    const { rig, createInvoice, pay } = world()
    const invoice = await createInvoice()
    await pay(invoice)
    rig.kill(name)
    await rig.stack.restart(name)
    await expectPaidOnce(world(), invoice)
  })

  test('Redis is emptied', async () => {
    const { rig, createInvoice, pay, waitForEvent } = world()
    const invoice = await createInvoice()
    await rig.redis.wipe()
    await pay(invoice)
    await waitForEvent(invoice.id, 'payment.detected')
    await rig.redis.wipe()
    await expectPaidOnce(world(), invoice)
  })

  /** A scanner that was frozen and comes back does not write over the one that took its place, and nothing counts twice. */
  test('a second scanner takes over from a frozen one, which then yields', async () => {
    const { rig, createInvoice, pay, waitForEvent } = world()
    const thaw = rig.freeze('scanner')
    if (thaw === null) throw new Error('the scanner is down')
    const endSecond = rig.startSecond('scanner')
    const first = await createInvoice()
    await pay(first)
    // Only the second scanner can have seen this; it had to wait for the frozen one's lease to run out.
    await waitForEvent(first.id, 'payment.detected', 60_000)
    thaw()
    const next = await createInvoice()
    await pay(next)
    for (const invoice of [first, next]) await expectPaidOnce(world(), invoice)
    await endSecond()
  })
})

/** Rows that wait when a dispatcher dies; `OUTAGE_ROWS` of the deep tier asks for 10,000. */
const ROWS = Number(process.env['OUTAGE_ROWS'] ?? (EVERY_CASE ? 2_500 : 1_200))
const ENDPOINTS = 50
/** Requests that one dispatcher has in flight at most; what is in flight when it dies may come twice. */
const IN_FLIGHT_MAX = 640
/** Locks of a killed process run out, and their endpoints go on, within this. */
const RESUME_AFTER_KILL_MS = 12_000
const DONE_MS = 150_000

describe('webhooks go on', () => {
  let db: Database
  let receiver: WebhookReceiver
  let box: ReturnType<typeof createSecretBox>

  beforeAll(async () => {
    const { stores, secrets } = parseConfig(readEnvironment(world().rig.dataDir) ?? {})
    box = createSecretBox(secrets.masterKey[0])
    const logger = createLogger({ name: 'test', level: 'silent' })
    db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
    receiver = await startWebhookReceiver()
  })
  afterAll(async () => {
    await receiver?.close()
    await db?.close()
  })

  /** Pending deliveries over many endpoints, found by the sweep of any dispatcher; returns their ids. */
  const give = async (total: number): Promise<readonly string[]> => {
    const made = await Promise.all(
      Array.from({ length: ENDPOINTS }, () => givePending(db, box, total / ENDPOINTS, { url: receiver.url })),
    )
    return made.flatMap(({ deliveryIds }) => deliveryIds)
  }
  const arrivals = (ids: ReadonlySet<string>): readonly ReceivedRequest[] =>
    receiver.requests.filter(({ headers }) => ids.has(String(headers['x-webhook-id'])))
  const untilArrived = (ids: ReadonlySet<string>, count: number, timeout = DONE_MS) =>
    vi.waitFor(() => expect(arrivals(ids).length).toBeGreaterThanOrEqual(count), { timeout, interval: 20 })
  const countPending = (ids: readonly string[]) =>
    db.collection(WEBHOOK_DELIVERIES).countDocuments({ _id: { $in: [...ids] }, status: 'pending' })
  /** Everything arrived, and each row took exactly one recorded attempt; returns how many requests came twice. */
  const expectAllOnce = async (ids: readonly string[]): Promise<number> => {
    await vi.waitFor(async () => expect(await countPending(ids)).toBe(0), { timeout: DONE_MS, interval: 200 })
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
  test('after kill -9 of a dispatcher with thousands of pending rows', { timeout: 2 * DONE_MS }, async () => {
    const { rig } = world()
    const ids = await give(ROWS)
    const own = new Set(ids)
    await untilArrived(own, 500)
    rig.kill('webhooks')
    await rig.stack.restart('webhooks')
    await untilArrived(own, arrivals(own).length + 1, RESUME_AFTER_KILL_MS)
    expect(await expectAllOnce(ids)).toBeLessThanOrEqual(IN_FLIGHT_MAX)
  })

  deepTest('after Redis is emptied, without a duplicate', { timeout: 2 * DONE_MS }, async () => {
    const ids = await give(1_000)
    const own = new Set(ids)
    await untilArrived(own, 100)
    await world().rig.redis.wipe()
    expect(await expectAllOnce(ids)).toBe(0)
  })

  // Guarantee: Redis is a convenience; without it invoices are created and webhooks arrive. Last, for it stays down.
  test('while Redis is down, and the API answers', { timeout: 2 * DONE_MS }, async () => {
    await world().rig.redis.end()
    const ids = await give(500)
    expect(await expectAllOnce(ids)).toBe(0)
    const invoice = await world().createInvoice()
    await world().waitForEvent(invoice.id, 'invoice.created', 30_000)
  })
})
