import type { NodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DayUsage, NodePrices } from '#shared/ports/node-usage.ts'
import type { Clock, Logger, Metrics } from '#shared/ports/runtime.ts'

const DAY_MS = 86_400_000

/** 00:00 UTC of a moment's day. */
export const startOfDay = (at: Ms): Ms => Math.floor(at / DAY_MS) * DAY_MS

/** Calls to nodes that this process made and has not stored yet. */
export interface UsageCounter {
  /** Counts like the metrics it was made from, and adds the calls to nodes to the day's row. */
  readonly metrics: Pick<Metrics, 'count'>
  /** Stores what was counted since, under the day of the call. Never throws: what could not be stored is kept for the next time. */
  flush(repository: Pick<NodeUsageRepository, 'add'>, logger: Pick<Logger, 'warn'>): Promise<void>
}

/**
 * Counts calls to nodes in memory, one row per UTC day, network and provider. A crash loses what was counted since the last flush. A flush
 * whose answer is lost is repeated: then at most its few seconds are counted twice, too much rather than too little.
 */
export function createUsageCounter(
  metrics: Pick<Metrics, 'count'>,
  clock: Clock,
  prices: Pick<NodePrices, 'unitOf' | 'unitsOf'>,
): UsageCounter {
  const rows = new Map<string, DayUsage>()
  function add(row: DayUsage): void {
    const key = JSON.stringify([row.day, row.mode, row.network, row.provider, row.unit])
    const { calls, units, bytes, firstAt } = rows.get(key) ?? { calls: 0, units: 0, bytes: 0, firstAt: row.firstAt }
    const sums = { calls: calls + row.calls, units: units + row.units, bytes: bytes + row.bytes }
    rows.set(key, { ...row, ...sums, firstAt: Math.min(firstAt, row.firstAt) })
  }
  return {
    metrics: {
      count: (name, labels = {}, by = 1) => {
        metrics.count(name, labels, by)
        const isCall = name === 'node_calls_total'
        if (!isCall && name !== 'node_request_bytes_total' && name !== 'node_response_bytes_total') return
        const { provider = '', method = '' } = labels
        const mode = MODES.find((one) => one === labels['mode'])
        const network = NETWORK_IDS.find((one) => one === labels['network'])
        // A client without a network is nobody's cost.
        if (mode === undefined || network === undefined) return
        const unit = prices.unitOf(mode, network, provider)
        const amounts = isCall
          ? { calls: by, units: by * prices.unitsOf(unit, network, method), bytes: 0 }
          : { calls: 0, units: 0, bytes: by }
        const at = clock.now()
        add({ day: startOfDay(at), mode, network, provider, unit, ...amounts, firstAt: at })
      },
    },
    flush: async (repository, logger) => {
      const taken = [...rows.values()]
      rows.clear()
      try {
        await repository.add(taken)
      } catch (error) {
        for (const row of taken) add(row)
        metrics.count('node_usage_failed_total')
        logger.warn({ err: error }, 'counted calls to nodes could not be stored')
      }
    },
  }
}
