import { type Origin, priceReading } from '#services/rates/quote-readers.ts'
import type { Pair, Pulse } from '#services/rates/rate-source.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Reading } from '#shared/domain/rates/quote.ts'

const CODES = ['EUR', 'GBP', 'BRL', 'MXN', 'COP', 'CLP', 'PEN', 'DOP', 'ARS'] as const

/** A table without a pulse, whose every currency stood still through a day and the night of its markets, is dead. Weekends are longer, and tables with a pulse do not need this. */
export const TABLE_FROZEN_MS = 24 * 60 * 60_000

/** Bitcoin never stands still for this long. */
const BITCOIN_STILL_MS = 15 * 60_000

/** The pairs of a table of units per USD; `arsSeries` is the Argentine price that it contains. */
export function fiatTablePairs(arsSeries: 'ARS:crypto' | 'ARS:official'): Readonly<Record<string, Pair>> {
  return Object.fromEntries(CODES.map((code) => [code, ['USD', code === 'ARS' ? arsSeries : code]]))
}

/** Readings of a table by currency code, for the pairs that are expected of it; a code that the table lacks is left out. */
export function fiatTableReadings(
  origin: Origin,
  pairs: Readonly<Record<string, Pair>>,
  rates: Readonly<Record<string, unknown>>,
  sourceAt: Ms | 'untimed' | null,
): readonly Reading[] {
  return Object.entries(pairs).flatMap(([code, pair]) =>
    code in rates ? priceReading(origin, pair, rates[code], sourceAt) : [],
  )
}

/** The table's own price of bitcoin shows whether it is alive while the markets of its currencies are closed; null without one. */
export function bitcoinPulse(bitcoin: unknown): Pulse | null {
  return typeof bitcoin === 'string' ? { text: bitcoin, stillMs: BITCOIN_STILL_MS } : null
}
