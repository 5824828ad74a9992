import { type RateSource, readBody, SourceFault } from '#services/rates/rate-source.ts'
import { coinbaseExchangeRates } from '#shared/contracts/rates/coinbase.ts'
import { bitcoinPulse, fiatTablePairs, fiatTableReadings, TABLE_FROZEN_MS } from './fiat-table.ts'

const PAIRS = fiatTablePairs('ARS:official')

/** Coinbase v2 exchange rates: units per USD, updated within minutes, without a time. ARS is the official price. */
export const coinbaseFx: RateSource = {
  name: 'coinbase-fx',
  feed: 'rolling',
  defaultUrl: 'https://api.coinbase.com',
  pollMs: 60_000,
  pairs: PAIRS,
  read: { on: '2026-08-05', from: 'docs.cdp.coinbase.com (exchange rates)' },
  frozenAfterMs: TABLE_FROZEN_MS,
  path: () => '/v2/exchange-rates?currency=USD',
  parse(body, receivedAt) {
    const { data } = readBody(coinbaseExchangeRates, body)
    if (data.currency !== 'USD') throw new SourceFault('refused', body)
    const origin = { source: 'coinbase-fx', feed: 'rolling', receivedAt } as const
    const readings = fiatTableReadings(origin, PAIRS, data.rates, 'untimed')
    return { readings, pulse: bitcoinPulse(data.rates['BTC']) }
  },
}
