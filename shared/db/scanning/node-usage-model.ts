import { COUNT, DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'

/** A year and a month, so that any month can be compared with the same one of the year before. */
const KEPT_S = 400 * 86_400

/** Calls of one method to one provider of a network on one UTC day. */
export interface NodeUsageDocument {
  /** `<day>|<mode>|<network>|<provider>|<method>` */
  _id: string
  /** 00:00 UTC. */
  day: Date
  mode: Mode
  network: NetworkId
  provider: string
  method: string
  calls: number
  requestBytes: number
  responseBytes: number
  /** When the first of them were stored. */
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
    method: TEXT,
    calls: COUNT,
    requestBytes: COUNT,
    responseBytes: COUNT,
    firstAt: DATE,
  },
  [{ name: 'node_usage_life', key: { day: 1 }, expireAfterSeconds: KEPT_S }],
)
