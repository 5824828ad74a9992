import { beforeEach, describe, expect, it } from 'vitest'
import { createRetentionRepository } from '#shared/db/maintenance/retention-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { useStores } from '#test/support/stores.ts'
import { keepRetention } from './keep-retention.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2030, 0, 31)
const stores = useStores()
const snapshots = () => stores.db.connection.collection<{ _id: string; at: Date }>('rate_snapshots')

beforeEach(async () => {
  await snapshots().deleteMany({})
  await stores.db.connection.collection('chain_cursors').deleteMany({})
})

/** One snapshot an hour over so many days before now. */
async function publish(days: number): Promise<void> {
  const at = (hour: number) => new Date(NOW - hour * 3_600_000)
  const rows = Array.from({ length: days * 24 }, (_, hour) => ({ _id: at(hour).toISOString(), at: at(hour) }))
  await snapshots().insertMany(rows, { bypassDocumentValidation: true })
}

async function run(now = NOW, batches = Number.POSITIVE_INFINITY) {
  const metrics = createMetrics({ defaults: false })
  const retention = createRetentionRepository(stores.db)
  let done = 0
  const counting = {
    ...retention,
    remove: (...args: Parameters<typeof retention.remove>) => {
      if (args[0] === 'rate_snapshots') done += 1
      return retention.remove(...args)
    },
  }
  const deps = { retention: counting, metrics, clock: { now: () => now } }
  const removed = await keepRetention(deps, () => done >= batches)
  return { removed, text: await metrics.render() }
}

const cursor = (time: number) =>
  createCursorRepository(stores.db).create({
    ...{
      id: 'live:ethereum',
      mode: 'live',
      network: 'ethereum',
      height: 1,
      hash: 'h',
      time,
      window: [],
      headHeight: 9,
    },
    ...{ headSeenAt: time, finalizedHeight: null, status: 'catchup', haltReason: null, genesisHash: 'g', lease: null },
  })

describe('retention', () => {
  it('says how long everything is kept', () => {
    const rules = createRetentionRepository(stores.db).rules
    const days = Object.fromEntries(rules.map(({ collection, lifeMs, by }) => [collection, `${lifeMs / DAY_MS} ${by}`]))
    expect(days).toEqual({
      events: '180 store',
      advance_failures: '7 store',
      invoice_counts: '62 store',
      invoice_rollups: '400 store',
      delivery_rollups: '3 store',
      webhook_deliveries: '180 store',
      webhook_attempts: '30 store',
      'webhook_deliveries.attempts': '30 job',
      delivery_recoveries: '180 store',
      chain_commands: '730 store',
      coin_balances: '32 job',
      rate_snapshots: '15 job',
      exceptions: '730 store',
      idempotency_keys: '1 store',
      mails: '90 store',
      payment_hints: '1 store',
      password_resets: '0 store',
      operations: '90 store',
      ownership_challenges: '0 store',
      processes: '1 store',
      sessions: `${1 / 24} store`,
      invitations: '30 store',
      node_usage: '400 store',
      login_attempts: '2 store',
    })
  })

  // Guards money: what was paid and asked for never goes away by age.
  it.each(['invoices', 'payments', 'refunds', 'audit_log', 'addresses', 'key_material', 'watch_packs'])(
    'never touches %s',
    async (name) => {
      const retention = createRetentionRepository(stores.db)
      await expect(retention.remove(name, NOW, 1)).rejects.toThrow('kept forever')
      await expect(retention.remove('events', NOW, 1)).rejects.toThrow('removed by the store')
    },
  )

  it('removes rates after 15 days in batches, stops when it is told to, and goes on', async () => {
    await publish(60)
    const first = await run(NOW, 1)
    expect(first.removed).toBe(500)
    const second = await run()
    expect(second.removed).toBe(45 * 24 - 1 - 500)
    expect(second.text).toContain(`paymesh_retention_deleted_total{collection="rate_snapshots"} ${45 * 24 - 1 - 500}`)
    expect(second.text).toContain('paymesh_retention_overdue_seconds{collection="rate_snapshots"} 0')
    const [oldest] = await snapshots().find().sort({ at: 1 }).toArray()
    expect(oldest?.at).toEqual(new Date(NOW - 15 * DAY_MS))
    expect((await run(NOW + DAY_MS)).removed).toBe(24)
  })

  // Guards money: a payment found after a long outage is priced by the rate of its own time.
  it('keeps the rates that a scanner far behind will need, and shows that they are overdue', async () => {
    await publish(60)
    await cursor(NOW - 40 * DAY_MS)
    const { removed, text } = await run()
    expect(removed).toBe(60 * 24 - 41 * 24 - 1)
    expect(text).toContain(`paymesh_retention_overdue_seconds{collection="rate_snapshots"} ${26 * 86_400}`)
  })

  // Guards money: late money on an address that a thrifty scanner reads only in its looks at all addresses is priced by the rate of its own time.
  it('keeps the rates that a look at all addresses will need, however far the scanner is', async () => {
    await publish(60)
    await cursor(NOW)
    const look = (days: number) => ({ height: 1, hash: 'h', time: new Date(NOW - days * DAY_MS), at: new Date(NOW) })
    const looks = { ended: look(1), all: look(1), week: look(1), month: look(40) }
    await stores.db.connection
      .collection('chain_cursors')
      .updateMany({}, { $set: { looks } }, { bypassDocumentValidation: true })
    expect((await run()).removed).toBe(60 * 24 - 41 * 24 - 1)
  })

  // Guards money: what a contract paid within an invoice of a network that stood still is compared once the network goes on.
  it('keeps the balance at the opening of an invoice until its network has passed the longest life of one', async () => {
    const balances = stores.db.connection.collection<{ _id: string; updatedAt: Date }>('coin_balances')
    await balances.insertOne(
      { _id: 'live:ethereum:a', updatedAt: new Date(NOW - 45 * DAY_MS) },
      { bypassDocumentValidation: true },
    )
    await cursor(NOW - 14 * DAY_MS)
    await run()
    expect(await balances.countDocuments()).toBe(1)
    await stores.db.connection
      .collection('chain_cursors')
      .updateMany({}, { $set: { time: new Date(NOW - 12 * DAY_MS) } }, { bypassDocumentValidation: true })
    await run()
    expect(await balances.countDocuments()).toBe(0)
  })
})
