import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SERVICE_NAMES } from '#scripts/service/services.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { readProcfile } from '#scripts/start/procfile.ts'
import { isProcessName, isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
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

/**
 * The real processes of one installation, one of each type: what each was given, what they log together, and scripted faults. Random
 * faults are those of `npm run chaos`; several processes of a type have `scaled.deep.test.ts`.
 */
const world = useRig()

/** What the operating system gave a process at its start. */
function environmentOf(pid: number): Readonly<Record<string, string>> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry !== '')
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
}

// Guarantee: every process does its work with its own secrets, and holds no other.
describe('every process with its own settings', () => {
  test.each(readProcfile().map(({ name }) => name))('%s was started with what it declares', (name) => {
    if (!isProcessName(name)) throw new Error(`no settings are declared for ${name}`)
    const given = Object.keys(environmentOf(world().rig.stack.pidOf(name)))
    expect(given).toContain('MONGO_URL')
    expect(given.filter((key) => isSettingName(key) && !readsSetting(name, key))).toEqual([])
    const secrets = SECRET_SETTINGS.filter((key) => given.includes(key))
    if (name === 'checkout') expect(secrets).toEqual(['MONGO_URL', 'REDIS_URL', 'PAYMESH_NETWORKS'])
    if (name === 'rates') expect(secrets).toEqual(['MONGO_URL', 'REDIS_URL'])
  })

  test('an invoice is created, chosen in the checkout, paid and announced', async () => {
    const { rig, merchant, getInvoice, pay, waitForEvent } = world()
    const invoice = await merchant.invoices.create({ amount: '25.00', currency: 'USD' })
    const chosen = await fetch(`${rig.stack.dev.checkoutUrl}/api/i/${invoice.id}/asset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ asset: 'usdt_ethereum', actionId: randomUUID() }),
    })
    expect(chosen.status).toBe(200)
    await pay(await getInvoice(invoice.id))
    await waitForEvent(invoice.id, 'invoice.paid', 90_000)
    expect((await getInvoice(invoice.id)).status).toBe('paid')
  }, 180_000)
})

// Guarantee: from one request every event, delivery and attempt that it caused is found by ids in the logs.
test('the processes leave one trail of ids through all of them', async () => {
  const { rig, createInvoice, waitForEvent } = world()
  const { id } = await createInvoice()
  await waitForEvent(id, 'invoice.pending')
  const trail = () => {
    const lines = readFileSync(rig.stack.logFile, 'utf8')
      .split('\n')
      .flatMap((line): Record<string, string>[] => (line.startsWith('{') ? [JSON.parse(line)] : []))
    const about = (msg: string, field: string, value: string | undefined) =>
      lines.filter((line) => line['msg'] === msg && line[field] === value)
    const [request] = about('request', 'resourceId', id)
    const relayed = about('event relayed', 'invoiceId', id).find((line) => line['type'] === 'invoice.pending')
    const [attempt] = about('webhook attempt', 'deliveryId', relayed?.['deliveries'])
    return { request, relayed, attempt }
  }
  await expect.poll(() => trail().attempt, { timeout: 60_000 }).toBeDefined()
  const { request, relayed, attempt } = trail()
  expect(request).toMatchObject({ operation: 'POST /invoices', requestId: expect.stringMatching(/^req_/) })
  expect(attempt).toMatchObject({
    process: 'webhooks',
    eventId: relayed?.['eventId'],
    result: 'succeeded',
    status: 200,
  })
})

/** In `npm test` those on the way from a transfer to its event; a dispatcher dies below. */
const KILLED = EVERY_CASE ? SERVICE_NAMES : (['scanner', 'invoices'] as const)

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
