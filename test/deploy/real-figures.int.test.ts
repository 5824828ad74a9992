import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createBacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import type { ChainCursor, ScanTrouble } from '#shared/ports/cursors.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createBacklogCollector } from '#shared/usecases/maintenance/collect-backlogs.ts'
import { startOfDay } from '#shared/usecases/networks/usage-counter.ts'
import { sampleDelivery, sampleInvoice, sampleObservation } from '#test/support/db-samples.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { deployPath } from './deploy-files.ts'
import { promtool } from './promtool.ts'

const stores = useStores()
const QUOTA = { perMonth: 1_000, unit: 'alchemy' } as const
/** Of a store with nothing to say: the disk of the machine that runs the tests is not its subject. */
const SOUND = { members: { total: 3, healthy: 3, faults: [], lagMs: 0 }, oplog: null, disk: null, isDenied: false }
const NETWORKS = {
  live: { ethereum: { rpcUrls: ['https://eth-mainnet.g.alchemy.com/v2/key'], quota: QUOTA } },
  test: {},
}
const folder = mkdtempSync(join(tmpdir(), 'paymesh-figures-'))
copyFileSync(deployPath('prometheus', 'alerts.yml'), join(folder, 'alerts.yml'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeEach(async () => {
  const { connection } = stores.db
  for (const { name } of await connection.listCollections()) await connection.collection(name).deleteMany({})
})

/** What Prometheus reads of an installation whose store is as it is now. */
async function exposition(): Promise<string> {
  const metrics = createMetrics({ defaults: false })
  const { db, runtime } = stores
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
    redundancy: { read: () => Promise.resolve(SOUND) },
    catalog: standIn({
      hasNode: (network, mode) => mode === 'live' && ['ethereum', 'bitcoin', 'tron'].includes(network),
      blockTimeMs: () => 12_000,
      compareFacts: () => [],
    }),
  })
  await collector.run()
  const text = await metrics.render()
  await collector.stop()
  return text
}

/** Fails unless exactly these alerts fire when the figures stay as they are for half an hour. */
function expectFiring(text: string, alerts: readonly string[]): void {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const series = lines.map((line) => {
    const at = line.lastIndexOf(' ')
    return { series: line.slice(0, at), values: `${line.slice(at + 1)}+0x30` }
  })
  const expr = (query: string, value: number | null) => ({
    expr: query,
    eval_time: '30m',
    exp_samples: value === null ? [] : [{ labels: '{}', value }],
  })
  const tests = [
    {
      interval: '1m',
      input_series: series,
      promql_expr_test: [
        ...alerts.map((name) => expr(`min(ALERTS{alertname="${name}",alertstate="firing"})`, 1)),
        expr(
          'count(count by (alertname) (ALERTS{alertstate="firing"}))',
          alerts.length === 0 ? null : new Set(alerts).size,
        ),
      ],
    },
  ]
  writeFileSync(
    join(folder, 'figures.json'),
    JSON.stringify({ rule_files: ['alerts.yml'], evaluation_interval: '1m', tests }),
  )
  expect(promtool(folder, 'test', 'rules', 'figures.json').output).toMatch(/SUCCESS\s*$/)
}

function cursor(network: ChainCursor['network'], change: Partial<ChainCursor> = {}): ChainCursor {
  const now = stores.runtime.clock.now()
  return {
    ...{ id: `live:${network}`, mode: 'live', network, height: 100, hash: '0x10', time: now, window: [] },
    ...{ headHeight: 100, headSeenAt: now, finalizedHeight: null, status: 'live', haltReason: null },
    ...{ genesisHash: '0x0', lease: null },
    ...change,
  }
}

const rates = (at: number) =>
  createRateRepository(stores.db).insert({
    at,
    guards: {},
    expected: {},
    sources: {},
    clockOffsetMs: null,
    usdPerSymbol: {},
    fiatPerUsd: {},
  })

deepTest('wakes nobody while all is well', async () => {
  const cursors = createCursorRepository(stores.db)
  for (const network of ['ethereum', 'bitcoin', 'tron'] as const) await cursors.create(cursor(network))
  await rates(stores.runtime.clock.now() - 15_000)
  expectFiring(await exposition(), [])
})

it.each(
  sampleOf(
    [
      [790, []],
      [800, ['NodeQuotaWarning']],
      [950, ['NodeQuotaCritical']],
    ] as const,
    1,
  ),
)('wakes somebody when %i of 1,000 units of a month are used: %j', async (units, alerts) => {
  const cursors = createCursorRepository(stores.db)
  for (const network of ['ethereum', 'bitcoin', 'tron'] as const) await cursors.create(cursor(network))
  const now = stores.runtime.clock.now()
  await rates(now - 15_000)
  const key = { mode: 'live', network: 'ethereum', provider: 'alchemy', day: startOfDay(now) } as const
  const row = { ...key, unit: 'alchemy', firstAt: now, calls: 1, units, bytes: 1 } as const
  await createNodeUsageRepository(stores.db).add([row])
  expectFiring(await exposition(), alerts)
})

// Guarantee: money that is not seen, not counted or not told of wakes somebody, from what the store says to the alert.
it('wakes somebody for halted, lagging, waiting and forgotten chains, stale rates and work that nobody does', async () => {
  const { db, runtime } = stores
  const now = runtime.clock.now()
  const ago = now - 30 * 60_000
  const cursors = createCursorRepository(db)
  await cursors.create(
    cursor('ethereum', { status: 'halted', haltReason: 'below finality', time: ago, headSeenAt: ago }),
  )
  await cursors.create(cursor('bitcoin', { waitReason: 'nodes disagree' }))
  await rates(ago)
  await createInvoiceRepository(db).insert(sampleInvoice(runtime.random, { at: ago, state: { nextActionAt: ago } }))
  const lease = await cursors.acquireLease('live', 'bitcoin', 'scanner', 60_000)
  const observation = sampleObservation('tx:1', { mode: 'live', network: 'bitcoin', asset: 'btc_bitcoin' })
  await createPaymentRepository(db, runtime.random).recordObservations([observation], lease?.epoch ?? 0, ago)
  await createDeliveryRepository(db).insertMany([sampleDelivery('whd_due', { dueAt: ago })])
  expectFiring(await exposition(), [
    'ChainHalted',
    'ChainLagging',
    'ChainNodesDisagree',
    'ChainNeverScanned',
    'RatesStale',
    'InvoicesBehind',
    'DeadlinesOverdue',
    'OutboxBehind',
    'WebhooksBehind',
  ])
})

// Guarantee: a network on which no deadline passes and no payment is seen wakes somebody, whatever its scanner believes.
it.each(
  sampleOf(
    [
      ['fails on one block', {}],
      ['has no scanner', { trouble: null, lease: null, headSeenAt: -30 * 60_000 }],
    ] as const,
    1,
  ),
)('wakes somebody for a network that %s', async (_what, change) => {
  const now = stores.runtime.clock.now()
  const cursors = createCursorRepository(stores.db)
  const trouble: ScanTrouble = {
    ...{ kind: 'node' as const, height: 101, hash: null, method: 'trace_block', reason: 'too large', host: null },
    ...{ firstAt: now - 5 * 60_000, lastAt: now - 3_000, tries: 60 },
  }
  const lease = { owner: 'a', epoch: 1, until: now + 15_000 }
  const failing = { trouble, lease, headHeight: 104, headSeenAt: now, ...change }
  const seenAt = 'headSeenAt' in change ? now + change.headSeenAt : now
  await cursors.create(cursor('ethereum', { ...failing, headSeenAt: seenAt }))
  for (const network of ['bitcoin', 'tron'] as const) await cursors.create(cursor(network))
  await rates(now - 15_000)
  expectFiring(await exposition(), 'headSeenAt' in change ? ['ChainStuck', 'ChainLagging'] : ['ChainStuck'])
})
