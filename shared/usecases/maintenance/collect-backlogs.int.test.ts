import type mongoose from 'mongoose'
import { beforeEach, describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createExportRecords } from '#shared/db/audit/export-records.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { WEBHOOK_ENDPOINTS, type WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { createLimitedEndpoints } from '#shared/db/endpoints/limited-endpoints.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createBacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { startOfDay } from '#shared/usecases/networks/usage-counter.ts'
import { sampleDelivery, sampleInvoice, sampleObservation } from '#test/support/db-samples.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { createBacklogCollector } from './collect-backlogs.ts'

const stores = useStores()
const MINUTE_MS = 60_000
const QUOTA = { perMonth: 10_000, unit: 'alchemy' } as const
const NETWORKS = {
  live: { ethereum: { rpcUrls: ['https://eth-mainnet.g.alchemy.com/v2/key'], quota: QUOTA } },
  test: {},
}

/** A process that collects, with its own metrics. */
function collecting(db = stores.db) {
  const metrics = createMetrics({ defaults: false })
  const { runtime } = stores
  const collector = createBacklogCollector({
    ...runtime,
    metrics,
    backlogs: createBacklogRepository(db),
    cursors: createCursorRepository(db),
    rates: createRateRepository(db),
    verifiedBackups: createVerifiedBackups(db),
    leases: createLeaseRepository(db),
    nodeUsage: createNodeUsageRepository(db),
    nodePrices: createNodePrices(NETWORKS),
    redundancy: createStoreRedundancy(db),
    catalog: standIn({
      hasNode: (network, mode) => mode === 'test' && network !== 'tron',
      blockTimeMs: () => 12_000,
      compareFacts: (network, measured) => createCatalog({ live: {}, test: {} }).compareFacts(network, measured),
    }),
  })
  const value = async (series: string): Promise<number | null> => {
    const line = (await metrics.render()).split('\n').find((each) => each.startsWith(`paymesh_${series} `))
    return line === undefined ? null : Number(line.split(' ').at(-1)?.replace('+Inf', 'Infinity'))
  }
  return { collector, value }
}

const sampleEndpoint = (id: string): WebhookEndpoint => ({
  ...{ id, workspaceId: 'ws-1', url: `https://${id}.example.com/hook`, events: ['*'], mode: 'test', description: null },
  ...{ status: 'enabled', sealedSecrets: [], formerSecrets: [], inFlightMax: null },
  ...{ createdAt: 1, updatedAt: 1, opId: null },
})

beforeEach(async () => {
  const { db } = stores
  for (const { name } of await db.connection.listCollections()) await db.connection.collection(name).deleteMany({})
})

const cursor = (change: Partial<ChainCursor>): ChainCursor => ({
  id: 'test:ethereum',
  mode: 'test',
  network: 'ethereum',
  height: 100,
  hash: '0x10',
  time: stores.runtime.clock.now(),
  window: [],
  headHeight: 100,
  headSeenAt: stores.runtime.clock.now(),
  finalizedHeight: null,
  status: 'live',
  haltReason: null,
  genesisHash: '0x0',
  lease: null,
  ...change,
})

// Guarantee: an installation without a back-up is reported like one whose back-up is too old.
it('reports the age of the newest verified back-up, which is infinite without one', async () => {
  const { collector, value } = collecting()
  await collector.run()
  expect(await value('backup_verified_age_seconds')).toBe(Number.POSITIVE_INFINITY)
  const { db, runtime } = stores
  const at = runtime.clock.now()
  const about = { at, actor: 'cli:test', subject: 'b', workspaceId: null, mode: null, detail: {} }
  await createExportRecords(db).record({ id: 'backup.started:b', action: 'backup.started', ...about })
  const verified = { backupId: 'b', takenAt: at - MINUTE_MS, verifiedAt: at, chain: null }
  await createVerifiedBackups(db).record(verified, { id: 'v', action: 'backup.verified', ...about })
  await collector.run()
  expect(await value('backup_verified_age_seconds')).toBeGreaterThanOrEqual(60)
  // An installation that never copied any is not behind with them.
  expect(await value('backup_changes_age_seconds')).toBeNull()
  const changes = { chain: 'c', takenAt: at - 2 * MINUTE_MS }
  await createVerifiedBackups(db).recordChanges({ ...changes, copied: null })
  await collector.run()
  expect(await value('backup_changes_age_seconds')).toBeGreaterThanOrEqual(120)
  expect(await value('backup_changes_age_seconds')).toBeLessThan(360)
  // Copies elsewhere that stand count.
  const copied = { archives: at - 2_880 * MINUTE_MS, changes: at - 6 * MINUTE_MS }
  await createVerifiedBackups(db).recordChanges({ ...changes, copied })
  await collector.run()
  expect(await value('backup_verified_age_seconds')).toBeGreaterThanOrEqual(172_800)
  expect(await value('backup_changes_age_seconds')).toBeGreaterThanOrEqual(360)
  await createVerifiedBackups(db).recordChanges({ ...changes, copied: { archives: at, changes: 0 } })
  await collector.run()
  expect(await value('backup_verified_age_seconds')).toBeLessThan(172_800)
  expect(await value('backup_changes_age_seconds')).toBe(Number.POSITIVE_INFINITY)
})

// Guarantee: late money shows although every process that should have moved it is dead.
describe('what the store says, with nobody at work', () => {
  it('is nothing to worry about but the missing rates while nothing waits', async () => {
    const { collector, value } = collecting()
    await collector.run()
    for (const queue of ['outbox', 'invoice-transitions', 'webhooks', 'mail', 'recoveries', 'audit-chain']) {
      expect(await value(`queue_depth{queue="${queue}"}`)).toBe(0)
      expect(await value(`queue_oldest_due_age_seconds{queue="${queue}"}`)).toBe(0)
    }
    expect(await value('chain_scanned{mode="test",network="ethereum"}')).toBe(0)
    expect(await value('chain_scanned{mode="test",network="tron"}')).toBeNull()
    expect(await value('rate_snapshot_age_seconds')).toBe(Number.POSITIVE_INFINITY)
    await collector.stop()
  })

  it('is how long the oldest due row of each queue waits', async () => {
    const { db, runtime } = stores
    const ago = runtime.clock.now() - MINUTE_MS
    const invoice = sampleInvoice(runtime.random, { at: ago, state: { nextActionAt: ago } })
    await createInvoiceRepository(db).insert(invoice)
    const cursors = createCursorRepository(db)
    await cursors.create(cursor({}))
    const lease = await cursors.acquireLease('test', 'ethereum', 'scanner', MINUTE_MS)
    await createPaymentRepository(db, runtime.random).recordObservations(
      [sampleObservation('tx:1')],
      lease?.epoch ?? 0,
      ago,
    )
    await createDeliveryRepository(db).insertMany([
      sampleDelivery('whd_due', { dueAt: ago }),
      sampleDelivery('whd_later', { dueAt: ago + 60 * MINUTE_MS }),
    ])
    const mail = { workspaceId: 'ws-1', template: 'endpoint_failing', to: 'owner@example.com', data: {} } as const
    await createMailRepository(db).insertMany([{ id: 'mail-1', ...mail, createdAt: ago }])
    await createAuditRepository(db).insertMany([
      {
        id: 'row',
        at: ago,
        actor: 'a',
        action: 'golive.master_key_stated',
        subject: 'c',
        workspaceId: null,
        mode: null,
        detail: {},
      },
    ])
    const { collector, value } = collecting()
    await collector.run()
    for (const queue of ['outbox', 'invoice-transitions', 'webhooks', 'mail', 'audit-chain']) {
      expect(await value(`queue_oldest_due_age_seconds{queue="${queue}"}`), queue).toBeGreaterThanOrEqual(59)
    }
    expect(await value('queue_depth{queue="webhooks"}')).toBe(2)
    expect(await value('invoice_deadline_oldest_age_seconds{chain="none"}')).toBeGreaterThanOrEqual(59)
    await collector.stop()
  })

  // Guarantee: one merchant's backlog neither scales the fleet nor wakes anybody.
  it('counts endpoints at their own limit apart, until nobody reports them', async () => {
    const { db, runtime } = stores
    const ago = runtime.clock.now() - MINUTE_MS
    const endpoints = ['slow', 'away', 'gone'].map((id) => sampleEndpoint(id))
    for (const endpoint of endpoints) await createEndpointRepository(db).insert(endpoint)
    await createDeliveryRepository(db).insertMany([
      sampleDelivery('whd_slow', { endpointId: 'slow', dueAt: ago }),
      sampleDelivery('whd_away', { endpointId: 'away', dueAt: ago - MINUTE_MS }),
    ])
    const limited = createLimitedEndpoints(db)
    const by = { limit: 64, latencyMs: 700, isFailing: false }
    await limited.report(
      new Map([
        ['slow', by],
        ['away', { ...by, isFailing: true }],
        ['unknown', by],
      ]),
    )
    const { collector, value } = collecting()
    await collector.run()
    expect(await value('queue_oldest_due_age_seconds{queue="webhooks"}')).toBe(0)
    expect(await value('queue_depth{queue="webhooks"}')).toBe(2)
    expect(await value('webhook_endpoints_due{state="free"}')).toBe(0)
    expect(await value('webhook_endpoints_due{state="slow"}')).toBe(1)
    expect(await value('webhook_endpoints_oldest_due_age_seconds{state="slow"}')).toBeGreaterThanOrEqual(59)
    expect(await value('webhook_endpoints_oldest_due_age_seconds{state="failing"}')).toBeGreaterThanOrEqual(119)
    // Every process that sent to it is dead: a free place is missing after all.
    await db.collection(WEBHOOK_ENDPOINTS).updateMany({}, { $set: { limitedAt: new Date(ago) } })
    await collector.run()
    expect(await value('queue_oldest_due_age_seconds{queue="webhooks"}')).toBeGreaterThanOrEqual(119)
    expect(await value('webhook_endpoints_due{state="free"}')).toBe(2)
    await collector.stop()
  })

  it('keeps the beginning of an episode through its reports, and begins another after an hour', async () => {
    const { db, runtime } = stores
    await createEndpointRepository(db).insert(sampleEndpoint('slow'))
    const limited = createLimitedEndpoints(db)
    const report = () => limited.report(new Map([['slow', { limit: 4, latencyMs: null, isFailing: false }]]))
    const since = async () => (await limited.list(runtime.clock.now()))[0]?.since ?? 0
    await report()
    const first = await since()
    const set = (change: object) => db.collection(WEBHOOK_ENDPOINTS).updateOne({ _id: 'slow' }, { $set: change })
    await set({ limitedSince: new Date(first - MINUTE_MS) })
    await report()
    expect(await since()).toBe(first - MINUTE_MS)
    await set({ limitedAt: new Date(first - 61 * MINUTE_MS) })
    await report()
    expect(await since()).toBeGreaterThanOrEqual(first)
  })

  it('is what nodes cost, and how much of a quota that is', async () => {
    const { db, runtime } = stores
    const at = runtime.clock.now()
    const key = { mode: 'live', network: 'ethereum', provider: 'alchemy', unit: 'alchemy' } as const
    const row = { ...key, day: startOfDay(at), firstAt: at - 2 * 3_600_000, calls: 140, units: 8_400, bytes: 3 }
    await createNodeUsageRepository(db).add([row])
    const { collector, value } = collecting()
    await collector.run()
    const labels = 'mode="live",network="ethereum",provider="alchemy"'
    expect(await value(`node_calls{${labels},period="today"}`)).toBe(140)
    expect(await value(`node_calls{${labels},period="month"}`)).toBe(140)
    expect(await value(`node_units{${labels},unit="alchemy",period="month"}`)).toBe(8_400)
    expect(await value(`node_units{${labels},unit="alchemy",period="month_estimate"}`)).toBeGreaterThanOrEqual(8_400)
    expect(await value('node_quota_used_ratio{mode="live",network="ethereum",unit="alchemy"}')).toBe(0.84)
    await collector.stop()
    expect(await value('node_quota_used_ratio{mode="live",network="ethereum",unit="alchemy"}')).toBeNull()
  })

  it('is a halted, a waiting and a lagging chain', async () => {
    const { db, runtime } = stores
    const cursors = createCursorRepository(db)
    const longAgo = runtime.clock.now() - 30 * MINUTE_MS
    await cursors.create(
      cursor({ status: 'halted', haltReason: 'below finality', headSeenAt: longAgo, headHeight: 140 }),
    )
    await cursors.create(cursor({ id: 'test:bitcoin', network: 'bitcoin', waitReason: 'nodes disagree' }))
    const { collector, value } = collecting()
    await collector.run()
    const halted = '{mode="test",network="ethereum"}'
    const waiting = '{mode="test",network="bitcoin"}'
    expect(await value(`chain_halted${halted}`)).toBe(1)
    expect(await value(`chain_lagging${halted}`)).toBe(1)
    expect(await value(`chain_lag_blocks${halted}`)).toBe(40)
    expect(await value(`chain_head_age_seconds${halted}`)).toBeGreaterThanOrEqual(1_799)
    expect(await value(`chain_halted${waiting}`)).toBe(0)
    expect(await value(`chain_waiting${waiting}`)).toBe(1)
    await collector.stop()
  })

  // Guarantee: a network that changed its pace is reported, whatever its row says.
  it('is a chain whose pace is not that of its row', async () => {
    const now = stores.runtime.clock.now()
    const marks = (paceMs: number) =>
      Array.from({ length: 25 }, (_, at): [number, number] => [at * 100, now + at * 100 * paceMs])
    const cursors = createCursorRepository(stores.db)
    await cursors.create(cursor({ measured: { marks: marks(1_200), finality: [], reorg: { depth: 2, at: now } } }))
    const bitcoin = { id: 'test:bitcoin', network: 'bitcoin' } as const
    await cursors.create(cursor({ ...bitcoin, measured: { marks: marks(650_000), finality: [], reorg: null } }))
    const { collector, value } = collecting()
    await collector.run()
    const of = (network: string, fact: string) => `{mode="test",network="${network}",fact="${fact}"}`
    expect(await value(`chain_fact_measured${of('ethereum', 'block_time')}`)).toBe(1.2)
    expect(await value(`chain_fact_row${of('ethereum', 'block_time')}`)).toBe(12)
    expect(await value(`chain_fact_off${of('ethereum', 'block_time')}`)).toBe(1)
    expect(await value(`chain_fact_measured${of('ethereum', 'reorganisation')}`)).toBe(2)
    expect(await value(`chain_fact_off${of('ethereum', 'reorganisation')}`)).toBe(0)
    expect(await value(`chain_fact_measured${of('ethereum', 'finality')}`)).toBeNull()
    expect(await value(`chain_fact_off${of('bitcoin', 'block_time')}`)).toBe(0)
    await collector.stop()
  })

  it('is a stuck chain, with what an alert names of it', async () => {
    const now = stores.runtime.clock.now()
    const at = { firstAt: now - 3 * MINUTE_MS, lastAt: now, tries: 9 }
    const failed = {
      kind: 'node',
      height: 101,
      hash: null,
      method: 'trace_block',
      reason: 'too large',
      host: null,
    } as const
    const cursors = createCursorRepository(stores.db)
    await cursors.create(cursor({ trouble: { ...failed, ...at }, headHeight: 140 }))
    await cursors.acquireLease('test', 'ethereum', 'scanner', MINUTE_MS)
    const { collector, value } = collecting()
    await collector.run()
    const why = 'cause="block_unreadable",block="101",method="trace_block"'
    expect(await value(`chain_stuck{mode="test",network="ethereum",${why}}`)).toBe(1)
    await collector.stop()
  })

  it('is old rates, also where prices of a later time are stored since the clock went back', async () => {
    const rates = createRateRepository(stores.db)
    const at = stores.runtime.clock.now()
    const none = { guards: {}, expected: {}, sources: {}, clockOffsetMs: null, usdPerSymbol: {}, fiatPerUsd: {} }
    await rates.insert({ at: at + 60 * MINUTE_MS, ...none })
    const { collector, value } = collecting()
    await collector.run()
    expect(await value('rate_snapshot_age_seconds')).toBe(Number.POSITIVE_INFINITY)
    await rates.insert({ at: at - 5 * MINUTE_MS, ...none })
    await collector.run()
    expect(await value('rate_snapshot_age_seconds')).toBeGreaterThanOrEqual(299)
    expect(await value('rate_snapshot_age_seconds')).toBeLessThan(3_600)
    await collector.stop()
  })

  it('is old rates and open exceptions', async () => {
    const { db, runtime } = stores
    const at = runtime.clock.now()
    await createRateRepository(db).insert({
      at: at - 5 * MINUTE_MS,
      guards: {},
      expected: {},
      sources: {},
      clockOffsetMs: null,
      usdPerSymbol: {},
      fiatPerUsd: {},
    })
    const open = { workspaceId: null, mode: null, invoiceId: null, paymentKey: null, detail: '', closedAt: null }
    await createExceptionRepository(db).open([
      { id: 'late:1', kind: 'late', openedAt: at, ...open },
      { id: 'late:2', kind: 'late', openedAt: at, ...open },
    ])
    const { collector, value } = collecting()
    await collector.run()
    expect(await value('rate_snapshot_age_seconds')).toBeGreaterThanOrEqual(299)
    expect(await value('exceptions_open{kind="late"}')).toBe(2)
    await createExceptionRepository(db).close(['late:1', 'late:2'], at)
    await collector.run()
    expect(await value('exceptions_open{kind="late"}')).toBeNull()
    await collector.stop()
  })
})

// Guarantee: the store is asked once per interval however many processes there are, and no figure is told by two.
it('is collected by one process at a time, and the next takes over when it ends', async () => {
  const [first, second] = [collecting(), collecting()]
  await first.collector.run()
  await second.collector.run()
  const depth = 'queue_depth{queue="outbox"}'
  expect([await first.value(depth), await second.value(depth)]).toEqual([0, null])
  await first.collector.stop()
  await second.collector.run()
  expect([await first.value(depth), await second.value(depth)]).toEqual([null, 0])
  await second.collector.stop()
})

// Guarantee: figures that nobody needs cost nothing while nothing happens.
it('asks one question of all empty queues, and reads all cursors at once', async () => {
  const url = new URL(stores.mongoUrl)
  url.searchParams.set('monitorCommands', 'true')
  const db = await connectDatabase({ url: url.href, name: stores.database, logger: stores.runtime.logger })
  try {
    const cursors = createCursorRepository(db)
    await cursors.create(cursor({}))
    await cursors.create(cursor({ id: 'test:bitcoin', network: 'bitcoin' }))
    const { collector } = collecting(db)
    const requests: string[] = []
    db.connection.getClient().on('commandStarted', ({ commandName, command }: mongoose.mongo.CommandStartedEvent) => {
      requests.push(`${commandName} ${command[commandName]}`)
    })
    await collector.run()
    const about = (name: string) => requests.filter((each) => each.endsWith(` ${name}`))
    for (const name of ['payments', 'webhook_deliveries', 'mails', 'delivery_recoveries', 'audit_log', 'exceptions']) {
      expect(about(name), name).toEqual([])
    }
    expect(about('chain_cursors')).toEqual(['find chain_cursors'])
    // One is about every queue, beginning with outboxes, and one about the deadlines of each chain and of none.
    expect(about('invoices')).toEqual(['aggregate invoices', 'aggregate invoices'])
    await collector.stop()
  } finally {
    await db.close()
  }
})
