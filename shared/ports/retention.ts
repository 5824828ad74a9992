import type { Ms } from '#shared/domain/invoice/model.ts'

/** How long documents of a collection are kept. */
export interface RetentionRule {
  readonly collection: string
  readonly lifeMs: Ms
  /** `store`: the database removes them itself, about once a minute. `job`: `remove` does. */
  readonly by: 'store' | 'job'
}

/** The ends of lives. */
export interface RetentionRepository {
  readonly rules: readonly RetentionRule[]
  /** Time of the oldest document whose life has begun; null when there is none. */
  oldest(collection: string): Promise<Ms | null>
  /** Removes up to `limit` documents from before a time, the oldest first; returns how many. Only for rules by `job`. */
  remove(collection: string, before: Ms, limit: number): Promise<number>
  /** Block time up to which every scanner has read; null when there is no scanner. */
  scannedThrough(): Promise<Ms | null>
}
