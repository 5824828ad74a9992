import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NodeQuota, UsageUnit } from '#shared/domain/nodes/providers.ts'

/** What was sent to one provider of a network on one UTC day. */
export interface DayUsage {
  /** 00:00 UTC of the day, Unix milliseconds. */
  readonly day: Ms
  readonly mode: Mode
  readonly network: NetworkId
  /** A known provider's name, otherwise host and port of the URL; never a path, a query or user info. */
  readonly provider: string
  /** What `units` were counted in. Settings that change it begin another row. */
  readonly unit: UsageUnit
  /** Each call of a batch counts for itself, and the batch not at all. */
  readonly calls: number
  /** What the calls and batches cost by the provider's list. */
  readonly units: number
  /** Bytes of the bodies in both directions. */
  readonly bytes: number
  /** When the first of them was counted. */
  readonly firstAt: Ms
}

/** What calls cost, and what they may cost. */
export interface NodePrices {
  /** The unit that a provider of a network bills by: its own, otherwise that of the quota that counts it, otherwise `calls`. */
  unitOf(mode: Mode, network: NetworkId, provider: string): UsageUnit
  /** Units of one call of a method. An estimate: providers change their lists and round in their own ways. */
  unitsOf(unit: UsageUnit, network: NetworkId, method: string): number
  /** Most blocks that one request for logs may span on a provider's free and paid plans; null: nothing is stated. */
  logRangeMax(provider: string): { readonly free: number | null; readonly paid: number | null } | null
  /** Null where the settings state none. */
  quota(mode: Mode, network: NetworkId): NodeQuota | null
  /** Whether calls to a provider count against the quota of a network. */
  counts(mode: Mode, network: NetworkId, provider: string): boolean
}
