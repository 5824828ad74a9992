import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DayUsage, NodeUsageRepository } from '#shared/ports/node-usage.ts'
import type { Clock, Logger, Metrics } from '#shared/ports/runtime.ts'

const DAY_MS = 86_400_000

/** Calls that this process made and has not stored yet. */
export interface UsageLedger {
  /** Counts like the metrics it was made from, and enters the calls to nodes in the ledger. */
  readonly metrics: Pick<Metrics, 'count'>
  /** Stores what was counted since, under the day of the call. Never throws: what could not be stored is kept for the next time. */
  flush(repository: Pick<NodeUsageRepository, 'add'>, logger: Pick<Logger, 'warn'>): Promise<void>
}

/** A row that grows. */
interface Row {
  calls: number
  requestBytes: number
  responseBytes: number
}

/** The counters that make a row, and their places in it. */
const FIELDS: Readonly<Partial<Record<Parameters<Metrics['count']>[0], keyof Row>>> = {
  node_calls_total: 'calls',
  node_request_bytes_total: 'requestBytes',
  node_response_bytes_total: 'responseBytes',
}

/**
 * Counts calls to nodes in memory, one row per UTC day, network, provider and method. A crash loses what was counted since the last
 * flush. A flush whose answer is lost is repeated: then at most its few seconds are counted twice, too much rather than too little.
 */
export function createUsageLedger(metrics: Pick<Metrics, 'count'>, clock: Clock): UsageLedger {
  let rows = new Map<string, Row>()
  function enter(day: Ms, labels: Readonly<Record<string, string>>, field: keyof Row, by: number): void {
    const { mode = '', network = '', provider = '', method = '' } = labels
    const key = JSON.stringify([day, mode, network, provider, method])
    const row = rows.get(key) ?? { calls: 0, requestBytes: 0, responseBytes: 0 }
    row[field] += by
    rows.set(key, row)
  }
  return {
    metrics: {
      count: (name, labels = {}, by = 1) => {
        metrics.count(name, labels, by)
        const field = FIELDS[name]
        if (field !== undefined) enter(startOfDay(clock.now()), labels, field, by)
      },
    },
    flush: async (repository, logger) => {
      const taken = rows
      rows = new Map()
      try {
        await repository.add([...taken].flatMap(toUsage), clock.now())
      } catch (error) {
        for (const [key, row] of rows) add(taken, key, row)
        rows = taken
        metrics.count('node_usage_failed_total')
        logger.warn({ err: error }, 'counted calls to nodes could not be stored')
      }
    },
  }
}

/** 00:00 UTC of a moment's day. */
export const startOfDay = (at: Ms): Ms => Math.floor(at / DAY_MS) * DAY_MS

function add(rows: Map<string, Row>, key: string, more: Row): void {
  const row = rows.get(key) ?? { calls: 0, requestBytes: 0, responseBytes: 0 }
  rows.set(key, {
    calls: row.calls + more.calls,
    requestBytes: row.requestBytes + more.requestBytes,
    responseBytes: row.responseBytes + more.responseBytes,
  })
}

/** A client without a network is nobody's cost. */
function toUsage([key, row]: readonly [string, Row]): readonly DayUsage[] {
  const [day, mode, network, provider, method] = JSON.parse(key) as [Ms, string, string, string, string]
  if (!isMode(mode) || !isNetwork(network)) return []
  return [{ day, mode, network, provider, method, ...row }]
}

const isMode = (text: string): text is Mode => (MODES as readonly string[]).includes(text)
const isNetwork = (text: string): text is NetworkId => (NETWORK_IDS as readonly string[]).includes(text)
