import type { MarketRate } from '#shared/domain/books/movements.ts'
import type { AssetId, FiatCode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { FiatSeries, PublishedPrice, RateSnapshot, SourceUse } from '#shared/db/rates/rate-model.ts'

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

/** Which of the two Argentine prices a workspace chose. */
export type ArsSeries = 'crypto' | 'official'

/** The price requested. `arsSeries` matters only when `fiat` is ARS. */
export interface RateRequest {
  readonly asset: AssetId
  readonly fiat: FiatCode
  readonly arsSeries: ArsSeries
}

/** Prices assets from published snapshots; safe to share by all requests of a process. */
export interface RateReader {
  /**
   * The price for a quote now. Throws `PaymeshError('RATES_UNAVAILABLE')` when there is no snapshot, it is older than
   * 120 s, or it holds no price for this symbol or fiat; never a stale, fixed or 1:1 price.
   */
  rateFor(request: RateRequest): Promise<AssetRate>
  /** The market's price as published in the 120 s up to and including `at`; null when nothing was. No spread. */
  rateAt(request: RateRequest & { readonly at: Ms }): Promise<MarketRate | null>
  /** The price between two currencies as published in the last 120 s; null when it is not known. Never throws for a missing rate. */
  fiatRate(request: {
    readonly from: FiatCode
    readonly to: FiatCode
    readonly arsSeries: ArsSeries
  }): Promise<FiatRate | null>
}

/** A price of one fiat currency in another. */
export interface FiatRate {
  /** Units of the second currency for one unit of the first. */
  readonly rate: string
  readonly snapshotAt: Ms
}
