import { type Origin, priceQuote } from '#services/rates/quote-readers.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Quote } from '#shared/domain/rates/quote.ts'

const CODES = ['EUR', 'GBP', 'BRL', 'MXN', 'COP', 'CLP', 'PEN', 'DOP', 'ARS'] as const

/**
 * Quotes of a table of units per USD by currency code, only for supported currencies; a code that is missing or zero is left
 * out. `arsSeries` is the Argentine price that this table contains.
 */
export function fiatTableQuotes(
  origin: Origin,
  rates: Readonly<Record<string, unknown>>,
  arsSeries: 'ARS:crypto' | 'ARS:official',
  sourceAt: Ms | null,
): readonly Quote[] {
  return CODES.flatMap((code) => priceQuote(origin, ['USD', code === 'ARS' ? arsSeries : code], rates[code], sourceAt))
}
