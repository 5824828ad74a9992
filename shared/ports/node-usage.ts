import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { NodeQuota, UsageUnit } from '#shared/domain/nodes/providers.ts'

/** Calls of one method to one provider of a network. */
export interface UsageKey {
  readonly mode: Mode
  readonly network: NetworkId
  /** A known provider's name, otherwise host and port of the URL; never a path, a query or user info. */
  readonly provider: string
  /** The JSON-RPC method, or the path of an HTTP API. */
  readonly method: string
}

/** How many, and bytes of their bodies in both directions. A row of method `batch` counts batches, whose calls have rows of their own. */
export interface UsageAmounts {
  readonly calls: number
  readonly requestBytes: number
  readonly responseBytes: number
}

/** One UTC day of a key. */
export interface DayUsage extends UsageKey, UsageAmounts {
  /** 00:00 UTC of the day, Unix milliseconds. */
  readonly day: Ms
}

/** Calls per network, provider, method and UTC day. They are kept for 400 days. */
export interface NodeUsageRepository {
  /** Adds to what is stored, so that processes add up. Resolves when MongoDB acknowledged all rows. */
  add(rows: readonly DayUsage[], at: Ms): Promise<void>
  /** All rows from a day on (00:00 UTC), and when the first call of each was stored. */
  since(day: Ms): Promise<readonly (DayUsage & { readonly firstAt: Ms })[]>
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
