import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Decimal } from '#shared/domain/money/money.ts'
import { midOf, parsePrice } from '#shared/domain/rates/price.ts'
import type { DropReason, Feed, Reading } from '#shared/domain/rates/quote.ts'
import type { Pair } from './rate-source.ts'

/** Origin of readings from one response. */
export interface Origin {
  readonly source: string
  readonly feed: Feed
  readonly receivedAt: Ms
}

/** The source's own time of a price: `untimed` where its format has none, null where it is unusable. */
type SourceTime = Ms | 'untimed' | null

/** The middle of a book; dropped when a side is missing, zero or malformed, the book is crossed or too wide, or its time is unusable. Nothing for a pair that is not ours. */
export function bookReading(
  origin: Origin,
  pair: Pair | undefined,
  book: { readonly bid: string | null; readonly ask: string | null; readonly sourceAt: SourceTime },
): readonly Reading[] {
  const bid = parsePrice(book.bid ?? '')
  const ask = parsePrice(book.ask ?? '')
  return readingOf(origin, pair, bid === null || ask === null ? null : midOf(bid, ask), book.sourceAt)
}

/** A single price; dropped when it is zero or malformed, or its time is unusable. Nothing for a pair that is not ours. */
export function priceReading(
  origin: Origin,
  pair: Pair | undefined,
  text: unknown,
  sourceAt: SourceTime,
): readonly Reading[] {
  return readingOf(origin, pair, typeof text === 'string' ? parsePrice(text) : null, sourceAt)
}

/** A pair of ours that the response itself says not to use. */
export function dropped(origin: Origin, pair: Pair | undefined, because: DropReason): readonly Reading[] {
  if (pair === undefined) return []
  const [base, quote] = pair
  return [{ source: origin.source, base, quote, because }]
}

/** Unix time written as digits, in milliseconds; null for anything else. */
export function epochMs(text: string, unit: 'seconds' | 'milliseconds'): Ms | null {
  if (!/^\d{1,15}$/.test(text)) return null
  return Number(text) * (unit === 'seconds' ? 1000 : 1)
}

/** ISO 8601 with `Z` or an offset, in milliseconds; null without one, because the hour is then unknown. */
export function isoMs(text: string): Ms | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

function readingOf(
  origin: Origin,
  pair: Pair | undefined,
  price: Decimal | null,
  sourceAt: SourceTime,
): readonly Reading[] {
  if (price === null) return dropped(origin, pair, 'no_price')
  if (sourceAt === null) return dropped(origin, pair, 'no_time')
  if (pair === undefined) return []
  const [base, quote] = pair
  return [{ ...origin, base, quote, price, sourceAt: sourceAt === 'untimed' ? null : sourceAt }]
}
