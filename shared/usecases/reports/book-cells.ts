import { type MarketSum, reportedChange } from '#shared/domain/books/invoice-books.ts'
import type { MarketRate } from '#shared/domain/books/movements.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms, Ms, Quote } from '#shared/domain/invoice/model.ts'
import { formatSignedFiat, formatUnits } from '#shared/domain/money/money.ts'

/** A cell of a CSV file; null is empty. */
export type Cell = string | number | boolean | null

/** What a cell says where a value has no rate, so that an empty cell never means that. */
export const NO_RATE = 'no rate'

/** A time as ISO 8601, UTC. */
export const iso = (at: Ms | null): string | null => (at === null ? null : new Date(at).toISOString())

/** A signed amount of a coin as a plain decimal. */
export function signedUnits(base: bigint, decimals: number): string {
  return base < 0n ? `-${formatUnits(-base, decimals)}` : formatUnits(base, decimals)
}

/** An amount with its ticker: a text, whose digits a spreadsheet does not round. Below zero it begins with U+2212, which begins no formula. */
export const amountText = (base: bigint, decimals: number, symbol: string): string =>
  `${signedUnits(base, decimals).replace('-', '−')} ${symbol}`

/** Columns of the price at whose rate money is valued. */
export const QUOTE_COLUMNS = ['price_rate', 'spread_percent', 'price_rate_time', 'price_rate_sources'] as const

/** Their cells: the rate includes the spread. Empty for money that no price values. */
export function quoteCells(quote: Quote | null): readonly Cell[] {
  if (quote === null) return QUOTE_COLUMNS.map(() => null)
  const { snapshotAt, sources, fxSources, spreadBps } = quote.provenance
  return [quote.fiatPerAsset, (spreadBps / 100).toFixed(2), iso(snapshotAt), [...sources, ...fxSources].join(' ')]
}

/** Columns of the market's price of the moment, without spread. */
export const MARKET_COLUMNS = ['market_rate', 'market_rate_time', 'market_rate_sources'] as const

/** Their cells; the first says when there is no rate. */
export function marketCells(market: MarketRate | null): readonly Cell[] {
  if (market === null) return [NO_RATE, null, null]
  return [market.fiatPerAsset, iso(market.at), [...market.sources, ...market.fxSources].join(' ')]
}

/** A sum at market, or that some of it has no rate: the sum of the rest would look whole. */
export function marketSumCell({ minor, unpriced }: MarketSum, currency: FiatCode): string {
  return unpriced === 0 ? formatSignedFiat(minor, currency) : NO_RATE
}

/** Columns of a value in the workspace's reporting currency. */
export const REPORTING_COLUMNS = ['reporting_currency', 'reporting_rate', 'reporting_value'] as const

/** Their cells for the change of an amount of an invoice: converted at the rate stored with the invoice, 1 in its own currency. */
export function reportingCells(
  terms: Pick<InvoiceTerms, 'fiat' | 'reporting'>,
  currency: FiatCode,
  from: bigint,
  to: bigint,
): readonly Cell[] {
  const minor = reportedChange(terms, currency, from, to)
  if (minor === null) return [currency, NO_RATE, null]
  const rate = terms.fiat.currency === currency ? '1' : (terms.reporting?.rate ?? null)
  return [currency, rate, formatSignedFiat(minor, currency)]
}
