import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Decimal } from '#shared/domain/money/decimal.ts'
import { midOf, parsePrice } from '#shared/domain/rates/price.ts'
import type { Feed, Quote } from '#shared/domain/rates/quote.ts'

/** The two sides of a price: units of the second for one of the first. */
export type Pair = readonly [base: string, quote: string]

/** Origin of quotes from one response. */
export interface Origin {
  readonly source: string
  readonly feed: Feed
  readonly receivedAt: Ms
}

/** The middle of a book as a quote; none when a side is missing, zero or malformed, or the book is crossed or too wide. */
export function bookQuote(
  origin: Origin,
  pair: Pair | undefined,
  book: { readonly bid: string; readonly ask: string; readonly sourceAt: Ms | null },
): readonly Quote[] {
  const bid = parsePrice(book.bid)
  const ask = parsePrice(book.ask)
  const price = bid === null || ask === null ? null : midOf(bid, ask)
  return pair === undefined || price === null ? [] : [quoteOf(origin, pair, price, book.sourceAt)]
}

/** A single price as a quote; none when it is zero or malformed. */
export function priceQuote(
  origin: Origin,
  pair: Pair | undefined,
  text: unknown,
  sourceAt: Ms | null,
): readonly Quote[] {
  const price = typeof text === 'string' ? parsePrice(text) : null
  return pair === undefined || price === null ? [] : [quoteOf(origin, pair, price, sourceAt)]
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

function quoteOf(origin: Origin, [base, quote]: Pair, price: Decimal, sourceAt: Ms | null): Quote {
  return { ...origin, base, quote, price, sourceAt }
}
