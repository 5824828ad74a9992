import type { Ms } from '#shared/domain/invoice/model.ts'

/** How long documents of a collection are kept. */
export interface RetentionRule {
  readonly collection: string
  readonly lifeMs: Ms
  /** `store`: the database removes them itself, about once a minute. `job`: `remove` does. */
  readonly by: 'store' | 'job'
}

/** Expiry of documents. */
export interface RetentionRepository {
  readonly rules: readonly RetentionRule[]
  /** Time of the oldest document with a started lifetime; null when there is none. */
  oldest(collection: string): Promise<Ms | null>
  /** Removes up to `limit` documents from before a time, the oldest first; returns how many. Only for rules with `job`. */
  remove(collection: string, before: Ms, limit: number): Promise<number>
  /**
   * Removes idempotency guards that are older than `before` from up to `limit` invoices, and goes on behind them the next time. Returns
   * how many invoices it read; fewer than `limit` when none is left. Safe to repeat and to be killed anywhere.
   */
  removeEndedGuards(before: Ms, limit: number): Promise<number>
  /** Block time up to which every scanner has scanned; null when there is no scanner. */
  scannedThrough(): Promise<Ms | null>
}
