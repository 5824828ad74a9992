import { z } from 'zod'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { USAGE_UNITS } from '#shared/domain/nodes/providers.ts'

const network = z.object({ mode: z.enum(MODES), network: z.enum(NETWORK_IDS), unit: z.enum(USAGE_UNITS) })

/** Calls, and bytes in both directions; `units` by the provider's list, an estimate. */
const figures = z.object({ calls: z.number(), units: z.number(), bytes: z.number() })

const provider = network.extend({
  /** A known provider's name, otherwise host and port. */
  provider: z.string(),
  /** Whether its calls count against the quota of the network; false without one. */
  inQuota: z.boolean(),
  today: figures,
  month: figures,
  /** Units of the whole month at the pace of the last seven days; null in the first hour after calls were first counted. */
  monthEstimate: z.number().nullable(),
  /** Most blocks that one request for logs may span on free and paid plans; null: the provider is unknown. */
  logRangeMax: z.object({ free: z.number().nullable(), paid: z.number().nullable() }).nullable(),
})

const quota = network.extend({
  perMonth: z.number(),
  used: z.number(),
  /** 1 is all of it; more is possible. */
  usedShare: z.number(),
  monthEstimate: z.number().nullable(),
  /**
   * `warning` from 80 %, `critical` from 95 %. Scanning never stops because of it: a thrifty scanner takes its slowest safe pace from
   * `critical` on.
   */
  level: z.enum(['ok', 'warning', 'critical']),
  /** For people; null while the level is `ok`. */
  sentence: z.string().nullable(),
})

/** What this installation's nodes cost; days and months are those of UTC. Quotas: of every network whose settings state one. */
export const nodeCostReport = z.object({ providers: z.array(provider), quotas: z.array(quota) })

/** What one provider of one network is sent. */
export type ProviderCost = z.infer<typeof provider>

/** How much of what a network may cost in this month is used. */
export type QuotaState = z.infer<typeof quota>

/** What this installation's nodes cost. */
export type NodeCosts = z.infer<typeof nodeCostReport>
