import type { RateSource } from './rate-source.ts'
import { binance } from './sources/binance.ts'
import { bitfinex } from './sources/bitfinex.ts'
import { bitso } from './sources/bitso.ts'
import { bitstamp } from './sources/bitstamp.ts'
import { coinbase } from './sources/coinbase.ts'
import { coinbaseFx } from './sources/coinbase-fx.ts'
import { dolarApi } from './sources/dolar-api.ts'
import { kraken } from './sources/kraken.ts'
import { okx } from './sources/okx.ts'
import { openErApi } from './sources/open-er-api.ts'
import { yadio } from './sources/yadio.ts'

/** Every price source; adding one is one file and one line here. */
export const ALL_SOURCES: readonly RateSource[] = [
  kraken,
  coinbase,
  bitstamp,
  okx,
  binance,
  bitfinex,
  bitso,
  coinbaseFx,
  yadio,
  openErApi,
  dolarApi,
]
