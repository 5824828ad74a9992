import type { Ms } from '#shared/domain/invoice/model.ts'

/** How long documents of a collection are kept. */
export interface RetentionRule {
  /** A collection, or `webhook_deliveries.attempts`, which live in their delivery and go before it. */
  readonly collection: string
  readonly lifeMs: Ms
  /** `store`: the database removes them itself, about once a minute. `job`: `remove` does. */
  readonly by: 'store' | 'job'
  /** True where a scanner that lags may still need what is past its lifetime. Only with `job`. */
  readonly waitsForScanners: boolean
  /** True where the lifetime passes with the blocks that scanners read, and not with the clock. Only with `job`. */
  readonly countsFromScanners: boolean
}
