import type { RateSnapshot } from '#shared/db/rates/rate-model.ts'
import type { AssetId, FiatCode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { FiatSeries, PublishedPrice, RateSnapshot } from '#shared/db/rates/rate-model.ts'

export interface RateRepository {
  insert(snapshot: RateSnapshot): Promise<void>
  /** The newest snapshot, fresh or not; null when there never was one. */
  latest(): Promise<RateSnapshot | null>
  /** The newest snapshot taken in (`at` − withinMs, `at`]; null when there is none. */
  latestBefore(at: Ms, withinMs: number): Promise<RateSnapshot | null>
}

/** A price for one asset in one fiat, ready for a quote. */
export interface AssetRate {
  readonly asset: AssetId
  readonly fiat: FiatCode
  /** Fiat per one asset unit, every digit, spread not yet included. */
  readonly fiatPerAsset: string
  /** Fiat per US dollar of the same snapshot, every digit. */
  readonly fiatPerUsd: string
  readonly snapshotAt: Ms
  /** Time of the oldest price of the asset in it, at most `snapshotAt`. */
  readonly observedAt: Ms
  readonly expiresAt: Ms
  readonly sources: readonly string[]
  readonly fxSources: readonly string[]
}
