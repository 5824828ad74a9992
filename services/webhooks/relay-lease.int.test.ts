import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { commandsOf } from '#test/support/commands-of.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { patientRedis, toOneServer } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { start } from './main.ts'
import { RELAY_LEASE } from './relay-lease.ts'

const INVOICES = 48
/** A relay in each process would write for each shard in every one of them. */
const BACKLOGS = 8
const soon = { timeout: 25_000, interval: 50 }

const stores = useStores()
const stage = deliveryStage(stores)
let engine: Engine
let receivers: readonly WebhookReceiver[] = []
let stops: Stop[] = []
const leases = () => stores.db.connection.getClient().db(stores.database).collection<{ _id: string }>('leases')

beforeAll(async () => {
  engine = await openEngine(stores)
  receivers = await Promise.all([startWebhookReceiver(), startWebhookReceiver()])
  for (const { url } of receivers) await stage.endpoint({ url, workspaceId: engine.workspace.id })
})
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())))
beforeEach(async () => {
  const producer = toOneServer(patientRedis(stores.redis).producer)
  for await (const keys of producer.scanStream({ match: `${stores.redis.prefix}*` }))
    if (keys.length > 0) await producer.unlink(...keys)
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  stops = []
  await leases().deleteOne({ _id: RELAY_LEASE })
})

/** Processes that count each other. */
async function run(count: number): Promise<void> {
  const heartbeats = createProcessHeartbeats(stores.db)
  const seenAt = stores.runtime.clock.now()
  const life = { host: 'h', pid: 1, version: '1', node: '24', startedAt: seenAt, silent: [], masterKeys: [] }
  for (let nth = 0; nth < count; nth += 1) await heartbeats.beat({ ...life, id: `w-${nth}`, name: 'webhooks', seenAt })
  stops = [...stops, ...(await Promise.all(Array.from({ length: count }, () => start(stage.context()))))]
}

async function invoices(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await engine.open()
}

async function delivered(): Promise<void> {
  const native = stores.db.connection.getClient().db(stores.database)
  const left = async () => [
    await native.collection('invoices').countDocuments({ 'outbox.0': { $exists: true } }),
    await native.collection('webhook_deliveries').countDocuments({ status: 'pending' }),
  ]
  await vi.waitFor(async () => expect(await left()).toEqual([0, 0]), soon)
}

const idsAt = (receiver: WebhookReceiver | undefined) =>
  (receiver?.requests ?? []).map(({ headers }) => String(headers['x-webhook-id']))

/**
 * The fewest writes of so many processes for a backlog in all shards, of several backlogs. Wake-ups that arrive in one turn share a round, and
 * on a busy machine even one process may get them in several.
 */
async function fewestWrites(processes: number): Promise<number> {
  const found: number[] = []
  for (let nth = 0; nth < BACKLOGS; nth += 1) found.push(await writesOf(processes))
  return Math.min(...found)
}

async function writesOf(processes: number): Promise<number> {
  await invoices(INVOICES)
  const found = await commandsOf(stores.db, async () => {
    await run(processes)
    await delivered()
  })
  await Promise.all(stops.map((stop) => stop()))
  stops = []
  // Each statement of an update has an entry, so trims are as many as invoices in any case.
  return found.filter(({ op, ns }) => op === 'insert' && /\.(events|webhook_deliveries)$/.test(String(ns))).length
}

// Guarantee: more processes cost the store no more. Counted: with a relay in each, the same backlog took a write for each shard.
test('four processes write what waits in as many commands as one', async () => {
  const alone = await fewestWrites(1)
  const four = await fewestWrites(4)
  expect(alone).toBeGreaterThan(0)
  expect(four).toBeLessThanOrEqual(alone * 1.2)
  for (const receiver of receivers) expect(new Set(idsAt(receiver)).size).toBe(2 * BACKLOGS * INVOICES)
})

// Guarantee: the holder was killed: its lease ends, and another process relays what waits and what comes.
test('another process relays once the lease of a killed one has ended', async () => {
  const until = new Date(Date.now() + 2_000)
  await leases().insertOne({ _id: RELAY_LEASE, owner: 'killed', until, epoch: 1 } as never)
  await run(2)
  const before = idsAt(receivers[0]).length
  await invoices(3)
  await delivered()
  expect(idsAt(receivers[0]).length).toBe(before + 3)
})

// Guarantee: a holder that was suspended and comes back relays beside its successor for a moment, and nothing is sent twice.
test('two processes that both relay send nothing twice', async () => {
  await run(1)
  const before = receivers.map((receiver) => idsAt(receiver).length)
  await vi.waitFor(async () => expect(await leases().countDocuments({ _id: RELAY_LEASE })).toBe(1), soon)
  // As its successor finds the lease: over. The first process has it back a second later at most, and both change places.
  await leases().updateOne({ _id: RELAY_LEASE }, { $set: { owner: 'successor', until: new Date(0) } } as never)
  await run(1)
  await invoices(20)
  await delivered()
  for (const [at, receiver] of receivers.entries()) {
    const ids = idsAt(receiver).slice(before[at])
    expect(ids).toHaveLength(20)
    expect(new Set(ids).size).toBe(20)
  }
})

test('a process that stops leaves the relay to another at once', async () => {
  await run(1)
  await vi.waitFor(async () => expect(await leases().countDocuments({ _id: RELAY_LEASE })).toBe(1), soon)
  await run(1)
  await stops.shift()?.()
  const before = idsAt(receivers[0]).length
  await invoices(3)
  await delivered()
  expect(idsAt(receivers[0]).length).toBe(before + 3)
})
