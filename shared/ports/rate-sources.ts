import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Decimal } from '#shared/domain/money/money.ts'
import type { Reading } from '#shared/domain/rates/quote.ts'

/** The price sources of a cycle: polled together, each with its own interval and isolated failures. */
export interface RateSources {
  /**
   * Polls every source that is due, all at once and for a few seconds at most, and returns one reading for each pair of each source: the price
   * now cached, fresh or not, or why there is none. Never throws: a source that fails keeps its last quotes until they expire.
   */
  poll(): Promise<readonly Reading[]>
  /** The sources whose last poll failed. */
  failing(): readonly FailingSource[]
}

/** A price source that does not answer as it should. */
export interface FailingSource {
  readonly source: string
  /** Kind of the failure, with the system's code where there is one: `timeout`, `unreachable (ECONNREFUSED)`. */
  readonly reason: string
  /** Of the first failure since it last answered. */
  readonly since: Ms
}

/** A second opinion on a large price change: an operator's or an aggregator's, never that of one of the sources. */
export interface JumpConfirmation {
  /**
   * Whether an operator or the aggregator has this price for the symbol (in USD) or fiat series (per USD); an operator's word is stronger. False when the
   * aggregator's price is another one, null when nobody has one. Never throws.
   */
  agrees(name: string, price: Decimal): Promise<boolean | null>
}
