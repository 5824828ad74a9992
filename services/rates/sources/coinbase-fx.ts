import { type RateSource, readBody, SourceFault } from '#services/rates/rate-source.ts'
import { coinbaseExchangeRates } from '#shared/contracts/rates/coinbase.ts'
import { fiatTableQuotes } from './fiat-table.ts'

/** Coinbase v2 exchange rates: units per USD, updated within minutes, without a time. ARS is the official price. */
export const coinbaseFx: RateSource = {
  name: 'coinbase-fx',
  feed: 'rolling',
  defaultUrl: 'https://api.coinbase.com',
  pollMs: 60_000,
  pairs: [],
  path: () => '/v2/exchange-rates?currency=USD',
  parse(body, receivedAt) {
    const { data } = readBody(coinbaseExchangeRates, body)
    if (data.currency !== 'USD') throw new SourceFault('refused', body)
    return fiatTableQuotes({ source: 'coinbase-fx', feed: 'rolling', receivedAt }, data.rates, 'ARS:official', null)
  },
}
