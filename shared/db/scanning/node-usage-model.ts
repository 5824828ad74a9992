import { COUNT, DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'
import type { DayUsage } from '#shared/ports/node-usage.ts'

/** A year and a month, so that any month can be compared with the same one of the year before. */
const KEPT_S = 400 * 86_400

/** What was sent to one provider of a network on one UTC day. */
export type NodeUsageDocument = Omit<DayUsage, 'day' | 'firstAt'> & {
  /** `<day>|<mode>|<network>|<provider>|<unit>` */
  _id: string
  /** 00:00 UTC. */
  day: Date
  firstAt: Date
}

/** The node_usage collection: written by increments under `_id`, read by days. */
export const NODE_USAGE = defineCollection<NodeUsageDocument>(
  'node_usage',
  {
    _id: TEXT,
    day: DATE,
    mode: TEXT,
    network: TEXT,
    provider: TEXT,
    unit: TEXT,
    calls: COUNT,
    units: COUNT,
    bytes: COUNT,
    firstAt: DATE,
  },
  [{ name: 'node_usage_life', key: { day: 1 }, expireAfterSeconds: KEPT_S }],
)
