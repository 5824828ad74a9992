import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Decimal } from '#shared/domain/money/decimal.ts'

/**
 * The source type of a price, which decides how long it is valid: `book` = mid of a live order book (or the last trade of a
 * venue without a public book), `rolling` = a table updated every few minutes, `daily` = a table updated once a day.
 */
export type Feed = 'book' | 'rolling' | 'daily'

/** One price of one source: `price` units of `quote` for one `base`, always positive. */
export interface Quote {
  readonly source: string
  /** Ticker symbol (`BTC`, `USDT`) or fiat code; the Argentine series are `ARS:crypto` and `ARS:official`. */
  readonly base: string
  readonly quote: string
  readonly price: Decimal
  readonly feed: Feed
  /** When the response arrived. */
  readonly receivedAt: Ms
  /** The source's own time of the price; null when its format has none. */
  readonly sourceAt: Ms | null
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** A source clock may be ahead of ours by this much; a larger difference is a unit error or a false time. */
const FUTURE_MS = 5 * SECOND_MS

/** Longest age since receipt and since the source's own time, per feed, milliseconds. */
const LIMITS: Readonly<Record<Feed, { readonly receiptMs: Ms; readonly sourceMs: Ms }>> = {
  book: { receiptMs: MINUTE_MS, sourceMs: MINUTE_MS },
  rolling: { receiptMs: 15 * MINUTE_MS, sourceMs: 30 * MINUTE_MS },
  daily: { receiptMs: 30 * HOUR_MS, sourceMs: 30 * HOUR_MS },
}

/** Whether a quote may still be used at `now`; a daily table without a date never may. */
export function isFresh(quote: Quote, now: Ms): boolean {
  const limit = LIMITS[quote.feed]
  const sinceMs = now - quote.receivedAt
  // Received before our clock was set back: nobody knows how long ago.
  if (sinceMs > limit.receiptMs || sinceMs < -FUTURE_MS) return false
  if (quote.sourceAt === null) return quote.feed !== 'daily'
  const age = now - quote.sourceAt
  return age <= limit.sourceMs && age >= -FUTURE_MS
}

/** The older of the two times of a quote: its age is counted from it. */
export function observedAt(quote: Quote): Ms {
  return quote.sourceAt !== null && quote.sourceAt < quote.receivedAt ? quote.sourceAt : quote.receivedAt
}
