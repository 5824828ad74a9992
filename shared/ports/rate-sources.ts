import type { Decimal } from '#shared/domain/money/decimal.ts'
import type { Quote } from '#shared/domain/rates/quote.ts'

/** The price sources of a cycle: polled together, each with its own interval and isolated failures. */
export interface RateSources {
  /**
   * Polls every source that is due, all at once and for a few seconds at most, and returns every quote now cached, fresh
   * or not. Never throws: a source that fails keeps its last quotes until they expire.
   */
  poll(): Promise<readonly Quote[]>
}

/** A second opinion on an implausibly large price change: an aggregator or an operator, never one of the sources. */
export interface JumpConfirmation {
  /** Whether its price of this symbol is within 3 % of the given one, in USD. False when unknown. Never throws. */
  agrees(symbol: string, usdPrice: Decimal): Promise<boolean>
}
