import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Decimal } from '#shared/domain/money/money.ts'

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

/**
 * Why a pair that a source is expected to price has no part in a price, most of all: `no_answer` = the source has not responded, or not lately;
 * `unlisted` = it does not list the pair; `missing` = its response lacks the pair; `halted` = listed, and not traded; `no_price` = zero, one-sided, crossed,
 * too wide, malformed or out of all proportion; `no_time` = the price has no usable time; `unit` = its time is years away, in the wrong unit; `clock` = its time is ahead of our
 * clock; `late` = too old; `duplicate` = two prices; `frozen` = the source repeats itself; `contradicted` = the same response contradicts it; `outlier` = too
 * far from the others; `peg` = the stablecoin that it is quoted in has no usable price; `alone` = too few others to agree with.
 */
export const DROP_REASONS = [
  'no_answer',
  'unlisted',
  'missing',
  'halted',
  'no_price',
  'no_time',
  'unit',
  'clock',
  'late',
  'duplicate',
  'frozen',
  'contradicted',
  'outlier',
  'peg',
  'alone',
] as const
export type DropReason = (typeof DROP_REASONS)[number]

/** A pair that a source is expected to price, without a price. */
export interface DroppedPair {
  readonly source: string
  readonly base: string
  readonly quote: string
  readonly because: DropReason
}

/** What a source has for one of its pairs: a price, fresh or not, or why it has none. */
export type Reading = Quote | DroppedPair

/** Whether this reading is a price. */
export function isQuote(reading: Reading): reading is Quote {
  return !('because' in reading)
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

/** A time further away than this is in another unit, not early or late. */
const OTHER_UNIT_MS = 365 * 24 * HOUR_MS

/** Why a quote may not be used at `now`; null when it may. A daily table without a date never may. */
export function staleness(quote: Quote, now: Ms): DropReason | null {
  const limit = LIMITS[quote.feed]
  const sinceMs = now - quote.receivedAt
  // Received before our clock was set back: how long ago is unknown.
  if (sinceMs > limit.receiptMs || sinceMs < -FUTURE_MS) return 'no_answer'
  if (quote.sourceAt === null) return quote.feed === 'daily' ? 'no_time' : null
  const age = now - quote.sourceAt
  if (age > OTHER_UNIT_MS || age < -OTHER_UNIT_MS) return 'unit'
  if (age < -FUTURE_MS) return 'clock'
  return age > limit.sourceMs ? 'late' : null
}

/** Whether a quote may still be used at `now`. */
export function isFresh(quote: Quote, now: Ms): boolean {
  return staleness(quote, now) === null
}

/** The older of the two times of a quote: its age is counted from it. */
export function observedAt(quote: Quote): Ms {
  return quote.sourceAt !== null && quote.sourceAt < quote.receivedAt ? quote.sourceAt : quote.receivedAt
}
