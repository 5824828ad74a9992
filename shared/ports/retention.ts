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

/** Expiry of documents. */
export interface RetentionRepository {
  readonly rules: readonly RetentionRule[]
  /** Time of the oldest document with a started lifetime; null when there is none. */
  oldest(collection: string): Promise<Ms | null>
  /**
   * Removes up to `limit` documents from before a time, the oldest first; returns how many. Attempts in deliveries are removed from up to
   * `limit` of these. Only for rules with `job`. Safe to repeat and to be killed anywhere.
   */
  remove(collection: string, before: Ms, limit: number): Promise<number>
  /**
   * Removes idempotency guards that are older than `before` from up to `limit` invoices, and goes on behind them the next time. Returns
   * how many invoices it read; fewer than `limit` when none is left. Safe to repeat and to be killed anywhere.
   */
  removeEndedGuards(before: Ms, limit: number): Promise<number>
  /** Block time up to which every scanner has scanned, and has looked at all addresses; null when there is no scanner. */
  scannedThrough(): Promise<Ms | null>
}
