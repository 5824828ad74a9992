import { z } from 'zod'
import { defineCollection } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { MODES, type NetworkId } from '#shared/domain/enumerations.ts'
import type { DayUsage } from '#shared/ports/node-usage.ts'

/** A year and a month, so that any month can be compared with the same one of the year before. */
const KEPT_S = 400 * 86_400

/** The node_usage collection: written by increments under `_id`, read by days. */
export const NODE_USAGE = defineCollection(
  'node_usage',
  {
    /** `<day>|<mode>|<network>|<provider>|<unit>` */
    _id: z.string(),
    /** 00:00 UTC. */
    day: TIME,
    mode: z.enum(MODES),
    network: textAs<NetworkId>(),
    provider: z.string(),
    unit: textAs<DayUsage['unit']>(),
    calls: z.number(),
    units: z.number(),
    bytes: z.number(),
    /** When the first of them were stored. */
    firstAt: TIME,
  },
  [{ name: 'node_usage_life', key: { day: 1 }, expireAfterSeconds: KEPT_S }],
)
