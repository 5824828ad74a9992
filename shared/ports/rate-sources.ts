import type { Decimal } from '#shared/domain/money/decimal.ts'
import type { Quote } from '#shared/domain/rates/quote.ts'

/** The price sources as a cycle sees them: asked together, each with its own pace and failures kept to itself. */
export interface RateSources {
  /**
   * Asks every source that is due, all at once and at most a few seconds long, and gives every quote now held, fresh
   * or not. Never throws: a source that fails keeps its last quotes until they age out.
   */
  poll(): Promise<readonly Quote[]>
}

/** A second opinion on a price that moved implausibly far: an aggregator or an operator, never one of the sources. */
export interface RateTripwire {
  /** Whether it sees this symbol within 3 % of the price, in USD. False when it does not know. Never throws. */
  agrees(symbol: string, usdPrice: Decimal): Promise<boolean>
}
