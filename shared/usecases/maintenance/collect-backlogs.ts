import type { StuckNetwork } from '#shared/contracts/chain-status.ts'
import type { NodeCosts } from '#shared/contracts/node-costs.ts'
import type { BacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { CursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { EVERY_NETWORK } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { GaugeName } from '#shared/ports/metric-table.ts'
import type { NodePrices } from '#shared/ports/node-usage.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { StoreRedundancy, StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'
import { backupAge } from '#shared/ports/verified-backups.ts'
import { createNetworkLag, type NetworkLag } from '#shared/usecases/networks/network-lag.ts'
import { createCostReader } from '#shared/usecases/networks/node-costs.ts'
import { stuckNetwork } from '#shared/usecases/networks/stuck-network.ts'
import { newestSnapshot } from '#shared/usecases/rates/newest-snapshot.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of collecting. */
export type CollectBacklogsDeps = Uses<
  'cursors' | 'verifiedBackups' | 'catalog' | 'leases' | 'nodeUsage' | 'clock' | 'random' | 'logger'
> & {
  readonly backlogs: BacklogRepository
  readonly rates: Pick<RateRepository, 'latest' | 'latestBefore'>
  readonly nodePrices: NodePrices
  readonly redundancy: StoreRedundancyReader
  /** `forget` removes series that this process no longer measures. */
  readonly metrics: Metrics & { forget(name: GaugeName): void }
}

const COSTS_LIFE_MS = 60_000
/** A lost member shows within this time. */
const REDUNDANCY_LIFE_MS = 15_000
const LEASE_ID = 'metrics-collector'
/** Three rounds: a dead holder is replaced before an alert would miss its figures. */
const LEASE_MS = 15_000
/** Label for deadlines of invoices that wait for no chain. */
const NO_CHAIN = 'none'

/** Every gauge that only the lease holder may publish. */
const GAUGES = [
  'queue_depth',
  'queue_oldest_due_age_seconds',
  'webhook_endpoints_due',
  'webhook_endpoints_oldest_due_age_seconds',
  'invoice_deadline_oldest_age_seconds',
  'exceptions_open',
  'chain_scanned',
  'chain_halted',
  'chain_lagging',
  'chain_fact_row',
  'chain_fact_measured',
  'chain_fact_off',
  'chain_waiting',
  'chain_stuck',
  'chain_lag_blocks',
  'chain_head_age_seconds',
  'node_calls',
  'node_units',
  'node_quota_used_ratio',
  'rate_snapshot_age_seconds',
  'backup_verified_age_seconds',
  'backup_changes_age_seconds',
  'store_members',
  'store_replication_lag_seconds',
  'store_oplog_seconds',
  'store_oplog_truncations',
  'store_disk_used_bytes',
  'store_disk_size_bytes',
  'store_rights_missing',
] as const satisfies readonly GaugeName[]

/**
 * Due work, the lag of each chain and the age of the rates, read from the store and not from the processes that do the
 * work: so the figures are right even when all of them are down, and cost one round of queries however many processes there are.
 */
export function createBacklogCollector(deps: CollectBacklogsDeps) {
  const owner = deps.random.uuid()
  const chains = createChainFigures(deps)
  // They change by the second and matter by the hour.
  const costs = createCostReader(deps, COSTS_LIFE_MS)
  const redundancy = createRedundancyFigures(deps)
  let holds = false
  const forgetAll = () => {
    for (const name of GAUGES) deps.metrics.forget(name)
  }
  const round = async (): Promise<void> => {
    const held = await deps.leases.acquire(LEASE_ID, owner, LEASE_MS)
    if (!held && holds) forgetAll()
    holds = held
    if (!held) return
    const at = deps.clock.now()
    // The last collection may contain a kind or a network that no longer exists.
    const published = await Promise.all([
      collectWork(deps, at),
      chains(at),
      collectRates(deps, at),
      collectBackups(deps, at),
      collectCosts(deps, costs),
      redundancy(at),
    ])
    forgetAll()
    for (const publish of published) publish()
    deps.metrics.count('backlog_collections_total', { result: 'published' })
  }
  return {
    /** Takes or renews the lease and publishes; a process without the lease publishes nothing. Never throws. */
    run: async (): Promise<void> => {
      try {
        await round()
      } catch (error) {
        deps.metrics.count('backlog_collections_total', { result: 'failed' })
        deps.logger.warn({ err: error }, 'the figures of the installation could not be collected')
      }
    },

    /** Releases the lease, so that the next process takes over at once. */
    stop: async (): Promise<void> => {
      if (!holds) return
      holds = false
      forgetAll()
      await deps.leases.release(LEASE_ID, owner).catch(() => undefined)
    },
  }
}

/** Publishes the results; called once all of them were collected. */
type Publish = () => void

const age = (from: Ms | null, at: Ms): number => (from === null ? 0 : Math.max(0, at - from) / 1_000)

async function collectWork({ backlogs, metrics }: CollectBacklogsDeps, at: Ms): Promise<Publish> {
  const [{ queues, dueEndpoints }, exceptions] = await Promise.all([backlogs.queues(at), backlogs.openExceptions()])
  return () => {
    for (const { queue, depth, oldestDueAt } of queues) {
      metrics.gauge('queue_depth', depth, { queue })
      metrics.gauge('queue_oldest_due_age_seconds', age(oldestDueAt, at), { queue })
    }
    for (const [state, { endpoints, oldestDueAt }] of Object.entries(dueEndpoints)) {
      metrics.gauge('webhook_endpoints_due', endpoints, { state })
      metrics.gauge('webhook_endpoints_oldest_due_age_seconds', age(oldestDueAt, at), { state })
    }
    for (const [kind, count] of exceptions) metrics.gauge('exceptions_open', count, { kind })
  }
}

/** Labels of an alert about a stuck network; an empty label counts as none. */
function stuckLabels({ trouble }: ChainCursor, stuck: StuckNetwork | null) {
  const failed = stuck === null ? null : trouble
  return { cause: stuck?.cause ?? '', block: String(failed?.height ?? ''), method: failed?.method ?? '' }
}

/** Figures of every chain. Its lag is evaluated from the cursors of the same list. */
function createChainFigures(deps: CollectBacklogsDeps): (at: Ms) => Promise<Publish> {
  let cursors: ReadonlyMap<string, ChainCursor> = new Map()
  const find: CursorRepository['find'] = async (mode, network) => cursors.get(`${mode}:${network}`) ?? null
  const lag = createNetworkLag({ ...deps, cursors: { find } })
  return async (at) => {
    cursors = new Map((await deps.cursors.list()).map((cursor) => [cursor.id, cursor]))
    return await collectChains(deps, { cursors, lag }, at)
  }
}

async function collectChains(
  deps: CollectBacklogsDeps,
  { cursors, lag }: { readonly cursors: ReadonlyMap<string, ChainCursor>; readonly lag: NetworkLag },
  at: Ms,
): Promise<Publish> {
  const { metrics, catalog, backlogs } = deps
  const scanned = EVERY_NETWORK.filter(({ mode, network }) => catalog.hasNode(network, mode))
  const [chains, deadlines] = await Promise.all([
    Promise.all(
      scanned.map(async (labels) => ({
        labels,
        cursor: cursors.get(`${labels.mode}:${labels.network}`) ?? null,
        lagging: await lag.isLagging(labels.mode, labels.network),
      })),
    ),
    Promise.all(
      [NO_CHAIN, ...cursors.keys()].map(async (chain) => ({ chain, at: await backlogs.oldestDeadline(chain, at) })),
    ),
  ])
  return () => {
    for (const { chain, at: since } of deadlines)
      metrics.gauge('invoice_deadline_oldest_age_seconds', age(since, at), { chain })
    for (const { labels, cursor, lagging } of chains) {
      metrics.gauge('chain_scanned', cursor === null ? 0 : 1, labels)
      if (cursor === null) continue
      metrics.gauge('chain_halted', cursor.status === 'halted' ? 1 : 0, labels)
      metrics.gauge('chain_lagging', lagging ? 1 : 0, labels)
      const scene = { now: at, hasNode: true, blockTimeMs: catalog.blockTimeMs(labels.network, labels.mode) }
      // A halted one has a separate alert.
      const stuck = cursor.status === 'halted' ? null : stuckNetwork(cursor, scene)
      metrics.gauge('chain_stuck', stuck === null ? 0 : 1, { ...labels, ...stuckLabels(cursor, stuck) })
      metrics.gauge('chain_waiting', typeof cursor.waitReason === 'string' ? 1 : 0, labels)
      metrics.gauge('chain_lag_blocks', Math.max(0, cursor.headHeight - cursor.height), labels)
      metrics.gauge('chain_head_age_seconds', age(cursor.headSeenAt, at), labels)
      publishFacts(deps, cursor)
    }
  }
}

/** Only figures that both the row and the scanner have. */
function publishFacts(
  { metrics, catalog }: CollectBacklogsDeps,
  { mode, network, measured: known }: ChainCursor,
): void {
  for (const { fact, unit, row, measured, isOff } of catalog.compareFacts(network, known ?? null)) {
    if (row === null || measured === null) continue
    const labels = { mode, network, fact }
    const scale = unit === 'ms' ? 1_000 : 1
    metrics.gauge('chain_fact_row', row / scale, labels)
    metrics.gauge('chain_fact_measured', measured / scale, labels)
    metrics.gauge('chain_fact_off', isOff ? 1 : 0, labels)
  }
}

/** Where nothing was published, or only what is of a later time, its age is infinite, so that the same alert fires: nothing can be priced. */
async function collectRates({ rates, metrics }: CollectBacklogsDeps, at: Ms): Promise<Publish> {
  const snapshot = await newestSnapshot(rates, at)
  return () => {
    const seconds = snapshot === null ? Number.POSITIVE_INFINITY : age(snapshot.at, at)
    metrics.gauge('rate_snapshot_age_seconds', seconds)
  }
}

/**
 * Without any verified back-up, or with one of a later time, its age is infinite, so that the same alert fires. Changes count once some were taken. Where
 * both are copied elsewhere, an older copy counts.
 */
async function collectBackups({ verifiedBackups, metrics }: CollectBacklogsDeps, at: Ms): Promise<Publish> {
  const [verified, changes] = await Promise.all([verifiedBackups.latest(), verifiedBackups.latestChanges()])
  return () => {
    metrics.gauge('backup_verified_age_seconds', backupAge(verified, at, changes?.copied?.archives) / 1_000)
    if (changes === null) return
    metrics.gauge('backup_changes_age_seconds', backupAge(changes, at, changes.copied?.changes) / 1_000)
  }
}

async function collectCosts({ metrics }: CollectBacklogsDeps, read: () => Promise<NodeCosts>): Promise<Publish> {
  const { providers, quotas } = await read()
  return () => {
    for (const { mode, network, provider, unit, today, month, monthEstimate } of providers) {
      const labels = { mode, network, provider }
      metrics.gauge('node_calls', today.calls, { ...labels, period: 'today' })
      metrics.gauge('node_calls', month.calls, { ...labels, period: 'month' })
      metrics.gauge('node_units', today.units, { ...labels, unit, period: 'today' })
      metrics.gauge('node_units', month.units, { ...labels, unit, period: 'month' })
      if (monthEstimate !== null)
        metrics.gauge('node_units', monthEstimate, { ...labels, unit, period: 'month_estimate' })
    }
    for (const { mode, network, unit, usedShare } of quotas)
      metrics.gauge('node_quota_used_ratio', usedShare, { mode, network, unit })
  }
}

/** A store that does not say it costs none of the other figures. */
function createRedundancyFigures({ redundancy, metrics, logger }: CollectBacklogsDeps): (at: Ms) => Promise<Publish> {
  let latest: StoreRedundancy | null = null
  let readAt = Number.NEGATIVE_INFINITY
  return async (at) => {
    if (at - readAt >= REDUNDANCY_LIFE_MS) {
      readAt = at
      latest = await redundancy.read().catch((error: unknown) => {
        logger.warn({ err: error }, 'the redundancy of the store could not be read')
        return null
      })
    }
    const state = latest
    return () => {
      if (state !== null) publishRedundancy(metrics, state)
    }
  }
}

function publishRedundancy(metrics: Metrics, { members, oplog, disk, isDenied }: StoreRedundancy): void {
  metrics.gauge('store_rights_missing', isDenied ? 1 : 0)
  if (members !== null) {
    metrics.gauge('store_members', members.total, { state: 'configured' })
    metrics.gauge('store_members', members.healthy, { state: 'healthy' })
    metrics.gauge('store_replication_lag_seconds', members.lagMs / 1_000)
  }
  if (oplog !== null) {
    metrics.gauge('store_oplog_seconds', oplog.windowMs / 1_000)
    metrics.gauge('store_oplog_truncations', oplog.truncations)
  }
  if (disk !== null) {
    metrics.gauge('store_disk_used_bytes', disk.usedBytes)
    metrics.gauge('store_disk_size_bytes', disk.totalBytes)
  }
}
