import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BacklogRepository } from '#shared/ports/backlogs.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { GaugeName } from '#shared/ports/metric-table.ts'
import type { RateRepository } from '#shared/ports/rates.ts'
import type { Ambient, Metrics } from '#shared/ports/runtime.ts'
import type { ChainCursor, CursorRepository } from '#shared/ports/scanning.ts'
import { createNetworkLag } from '#shared/usecases/networks/network-lag.ts'
import { type StuckNetwork, stuckNetwork } from '#shared/usecases/networks/stuck-network.ts'

/** What collecting needs. */
export interface CollectBacklogsDeps extends Pick<Ambient, 'clock' | 'random' | 'logger'> {
  readonly backlogs: BacklogRepository
  readonly cursors: Pick<CursorRepository, 'find' | 'list'>
  readonly rates: Pick<RateRepository, 'latest'>
  readonly catalog: Pick<Catalog, 'hasNode' | 'blockTimeMs'>
  readonly leases: LeaseRepository
  /** `forget` takes back what this process no longer knows. */
  readonly metrics: Metrics & { forget(name: GaugeName): void }
}

/** Figures of the whole installation, published by one process at a time. */
export interface BacklogCollector {
  /** Takes or keeps the lease and publishes; a process without the lease publishes nothing. Never throws. */
  run(): Promise<void>
  /** Gives the lease back, so that the next process takes over at once. */
  stop(): Promise<void>
}

const LEASE_ID = 'metrics-collector'
/** Three rounds: who dies is replaced before an alert would miss its figures. */
const LEASE_MS = 15_000
/** Deadlines of invoices that wait for no chain. */
const NO_CHAIN = 'none'

/** Every gauge that only the holder of the lease may show. */
const GAUGES = [
  'queue_depth',
  'queue_oldest_due_age_seconds',
  'invoice_deadline_oldest_age_seconds',
  'exceptions_open',
  'chain_scanned',
  'chain_halted',
  'chain_lagging',
  'chain_waiting',
  'chain_stuck',
  'chain_lag_blocks',
  'chain_head_age_seconds',
  'rate_snapshot_age_seconds',
] as const satisfies readonly GaugeName[]

/**
 * What is due, how far each chain is behind and how old the rates are, asked of the store and not of the processes that do the
 * work: so it is true when they are all dead, and costs one round of questions however many processes there are.
 */
export function createBacklogCollector(deps: CollectBacklogsDeps): BacklogCollector {
  const owner = deps.random.uuid()
  const lag = createNetworkLag(deps)
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
    // What was collected last may name a kind or a network that is no more.
    const published = await Promise.all([collectWork(deps, at), collectChains(deps, lag, at), collectRates(deps, at)])
    forgetAll()
    for (const publish of published) publish()
    deps.metrics.count('backlog_collections_total', { result: 'published' })
  }
  return {
    run: async () => {
      try {
        await round()
      } catch (error) {
        deps.metrics.count('backlog_collections_total', { result: 'failed' })
        deps.logger.warn({ err: error }, 'the figures of the installation could not be collected')
      }
    },
    stop: async () => {
      if (!holds) return
      holds = false
      forgetAll()
      await deps.leases.release(LEASE_ID, owner).catch(() => undefined)
    },
  }
}

/** Publishes what was found; called when everything was. */
type Publish = () => void

const age = (from: Ms | null, at: Ms): number => (from === null ? 0 : Math.max(0, at - from) / 1_000)

async function collectWork({ backlogs, metrics }: CollectBacklogsDeps, at: Ms): Promise<Publish> {
  const [queues, exceptions] = await Promise.all([backlogs.queues(at), backlogs.openExceptions()])
  return () => {
    for (const { queue, depth, oldestDueAt } of queues) {
      metrics.gauge('queue_depth', depth, { queue })
      metrics.gauge('queue_oldest_due_age_seconds', age(oldestDueAt, at), { queue })
    }
    for (const [kind, count] of exceptions) metrics.gauge('exceptions_open', count, { kind })
  }
}

/** What an alert names of a stuck network; an empty label counts as none. */
function stuckLabels({ trouble }: ChainCursor, stuck: StuckNetwork | null) {
  const failed = stuck === null ? null : trouble
  return { cause: stuck?.cause ?? '', block: String(failed?.height ?? ''), method: failed?.method ?? '' }
}

async function collectChains(
  deps: CollectBacklogsDeps,
  lag: ReturnType<typeof createNetworkLag>,
  at: Ms,
): Promise<Publish> {
  const { metrics, catalog, backlogs } = deps
  const cursors = new Map((await deps.cursors.list()).map((cursor) => [cursor.id, cursor]))
  const scanned = MODES.flatMap((mode) =>
    NETWORK_IDS.filter((network) => catalog.hasNode(network, mode)).map((network) => ({ mode, network })),
  )
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
      const scene = { now: at, hasNode: true, blockTimeMs: catalog.blockTimeMs(labels.network) }
      // A halted one has an alert of its own.
      const stuck = cursor.status === 'halted' ? null : stuckNetwork(cursor, scene)
      metrics.gauge('chain_stuck', stuck === null ? 0 : 1, { ...labels, ...stuckLabels(cursor, stuck) })
      metrics.gauge('chain_waiting', typeof cursor.waitReason === 'string' ? 1 : 0, labels)
      metrics.gauge('chain_lag_blocks', Math.max(0, cursor.headHeight - cursor.height), labels)
      metrics.gauge('chain_head_age_seconds', age(cursor.headSeenAt, at), labels)
    }
  }
}

async function collectRates({ rates, metrics }: CollectBacklogsDeps, at: Ms): Promise<Publish> {
  const snapshot = await rates.latest()
  return () => {
    if (snapshot !== null) metrics.gauge('rate_snapshot_age_seconds', age(snapshot.at, at))
  }
}
