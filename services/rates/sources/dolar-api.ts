import { bookQuote, isoMs, type Pair } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { dolarApiAnswer, dolarApiRow } from '#shared/contracts/rates/dolar-api.ts'

/** The wholesale dollar is the official price; `tarjeta` includes a tax and `blue` is neither of the two series. */
const PAIRS = new Map<string, Pair>([
  ['mayorista', ['USD', 'ARS:official']],
  ['cripto', ['USD', 'ARS:crypto']],
])

/** DolarAPI: the kinds of dollar of Argentina, updated every five minutes while its markets are open. */
export const dolarApi: RateSource = {
  name: 'dolar-api',
  feed: 'rolling',
  defaultUrl: 'https://dolarapi.com',
  pollMs: 60_000,
  pairs: [],
  path: () => '/v1/dolares',
  parse(body, receivedAt) {
    const origin = { source: 'dolar-api', feed: 'rolling', receivedAt } as const
    return readRows(dolarApiRow, readBody(dolarApiAnswer, body)).flatMap((row) => {
      const sourceAt = isoMs(row.fechaActualizacion)
      const book = { bid: row.compra, ask: row.venta, sourceAt }
      return sourceAt === null ? [] : bookQuote(origin, PAIRS.get(row.casa), book)
    })
  },
}
