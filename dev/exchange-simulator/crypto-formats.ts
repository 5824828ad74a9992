import { hits } from './faults.ts'
import { type BookName, recordsOf, type Scene, unixStamp } from './venue.ts'

const COINS = ['BTC', 'LTC', 'DOGE', 'ETH', 'BNB', 'POL', 'TRX', 'SOL'] as const
const ALL = [...COINS, 'USDT', 'USDC'] as const

/** Kraken's names: the requested pair, the key in the response, the base. */
const KRAKEN = [
  ['XBTUSD', 'XXBTZUSD', 'BTC'],
  ['LTCUSD', 'XLTCZUSD', 'LTC'],
  ['XDGUSD', 'XDGUSD', 'DOGE'],
  ['ETHUSD', 'XETHZUSD', 'ETH'],
  ['BNBUSD', 'BNBUSD', 'BNB'],
  ['POLUSD', 'POLUSD', 'POL'],
  ['TRXUSD', 'TRXUSD', 'TRX'],
  ['SOLUSD', 'SOLUSD', 'SOL'],
  ['USDTUSD', 'USDTZUSD', 'USDT'],
  ['USDCUSD', 'USDCUSD', 'USDC'],
  ['EURUSD', 'ZEURZUSD', 'EUR'],
  ['GBPUSD', 'ZGBPZUSD', 'GBP'],
] as const

/** Kraken `Ticker`; one unknown pair refuses the whole list with status 200. `AssetPairs` lists what there is. */
export function krakenBody(scene: Scene): unknown {
  if (scene.request.pathname.endsWith('/AssetPairs')) return krakenPairs(scene)
  const pairNames = new Set((scene.request.searchParams.get('pair') ?? '').split(','))
  const pairs = KRAKEN.filter(([id]) => pairNames.has(id))
  if (pairs.length < pairNames.size || pairs.some(([, , base]) => hits(scene.fault, 'unknown_pair', base))) {
    return { error: ['EQuery:Unknown asset pair'] }
  }
  const names = pairs.map(([, key, base]): BookName => [key, base, 'USD'])
  const rows = recordsOf(scene, names, { bps: 0, half: 1 }, 5).map(({ id, bid, ask, last }) => [
    id,
    {
      a: [ask, '1', '1.000'],
      b: [bid, '1', '1.000'],
      c: [last, '0.00067643'],
      v: ['4083.67001100', '4412.73601799'],
      p: [last, last],
      t: [34_619, 38_907],
      l: [bid, bid],
      h: [ask, ask],
      o: last,
    },
  ])
  return { error: [], result: Object.fromEntries(rows) }
}

function krakenPairs(scene: Scene): unknown {
  const listed = KRAKEN.filter(([, , base]) => !hits(scene.fault, 'unknown_pair', base))
  const rows = listed.map(([altname, key]) => [key, { altname, wsname: altname, pair_decimals: 5, status: 'online' }])
  return { error: [], result: Object.fromEntries(rows) }
}

/** Coinbase Advanced Trade products; unknown ids are silently absent. */
export function coinbaseBody(scene: Scene): unknown {
  const ids = new Set(scene.request.searchParams.getAll('product_ids'))
  const names = ['BTC', 'LTC', 'DOGE', 'ETH', 'BNB', 'POL', 'SOL', 'USDT']
    .map((base): BookName => [`${base}-USD`, base, 'USD'])
    .filter(([id]) => ids.has(id))
  const products = recordsOf(scene, names, { bps: 2, half: 1 }).map(({ id, last }) => ({
    product_id: id,
    price: last,
    volume_24h: '87329.92990204',
    status: 'online',
    is_disabled: false,
    trading_disabled: false,
    cancel_only: hits(scene.fault, 'cancel_only', id.slice(0, id.indexOf('-'))),
    view_only: hits(scene.fault, 'view_only', id.slice(0, id.indexOf('-'))),
    auction_mode: hits(scene.fault, 'auction_mode', id.slice(0, id.indexOf('-'))),
    limit_only: false,
    post_only: false,
    product_type: 'SPOT',
    mid_market_price: '',
    alias: '',
    alias_to: [],
    base_currency_id: id.slice(0, id.indexOf('-')),
    quote_currency_id: 'USD',
  }))
  return { products, num_products: products.length }
}

/** Bitstamp `ticker/`: all pairs, also unused ones. */
export function bitstampBody(scene: Scene): unknown {
  const names: readonly BookName[] = [
    ...[...ALL, 'EUR', 'GBP'].map((base): BookName => [`${base}/USD`, base, 'USD']),
    ['BTC/EUR', 'BTC', 'EUR'],
    ['BTC/GBP', 'BTC', 'GBP'],
    ['LTC/BTC', 'LTC', 'BTC'],
  ]
  return recordsOf(scene, names, { bps: -3, half: 3 }).map(({ id, bid, ask, last }) => ({
    timestamp: String(unixStamp(scene, 'seconds')),
    high: ask,
    last,
    bid,
    vwap: last,
    volume: '3563.13819902',
    low: bid,
    ask,
    open: last,
    open_24: last,
    percent_change_24: '1.24',
    pair: id,
  }))
}

/** OKX spot tickers: all books, also unused ones. It has none in USD since 2026-09-30. */
export function okxBody(scene: Scene): unknown {
  const names: readonly BookName[] = [
    ...[...COINS, 'USDT'].map((base): BookName => [`${base}-USDC`, base, 'USDC']),
    ...[...COINS, 'USDC'].map((base): BookName => [`${base}-USDT`, base, 'USDT']),
    ['USDT-BRL', 'USDT', 'BRL'],
    ['BTC-EUR', 'BTC', 'EUR'],
    ['BTC-BRL', 'BTC', 'BRL'],
    ['LTC-BTC', 'LTC', 'BTC'],
  ]
  const data = recordsOf(scene, names, { bps: -1, half: 0.5 }).map(({ id, bid, ask, last }) => ({
    instType: 'SPOT',
    instId: id,
    last,
    lastSz: '5.4788',
    askPx: ask,
    askSz: '3.2197',
    bidPx: bid,
    bidSz: '4.7509',
    open24h: last,
    vol24h: '124824.1985',
    volCcy24h: '9.2877',
    ts: String(unixStamp(scene, 'milliseconds')),
  }))
  return { code: '0', msg: '', data }
}

const BINANCE: readonly BookName[] = [
  ...COINS.map((base): BookName => [`${base}USDT`, base, 'USDT']),
  ['USDTUSD', 'USDT', 'USD'],
  ['USDCUSD', 'USDC', 'USD'],
  ['USDTBRL', 'USDT', 'BRL'],
  ['USDTMXN', 'USDT', 'MXN'],
  ['USDTARS', 'USDT', 'ARS:crypto'],
  ['USDTCOP', 'USDT', 'COP'],
]

/** Binance `bookTicker`; one unknown symbol refuses the whole list. Prices are padded to eight decimals. `ticker/price` has every symbol. */
export function binanceBody(scene: Scene): unknown {
  if (scene.request.pathname.endsWith('/ticker/price')) {
    const listed = BINANCE.filter(([, base]) => !hits(scene.fault, 'unknown_pair', base))
    return recordsOf(scene, listed, { bps: 1, half: 0 }, 8).map(({ id, last }) => ({ symbol: id, price: last }))
  }
  const symbols = new Set<unknown>(JSON.parse(scene.request.searchParams.get('symbols') ?? '[]'))
  const names = BINANCE.filter(([id]) => symbols.has(id))
  if (names.length < symbols.size || names.some(([, base]) => hits(scene.fault, 'unknown_pair', base))) {
    return { code: -1121, msg: 'Invalid symbol.' }
  }
  return recordsOf(scene, names, { bps: 1, half: 0.5 }, 8).map(({ id, bid, ask }) => ({
    symbol: id,
    bidPrice: bid,
    bidQty: '431.00000000',
    askPrice: ask,
    askQty: '9.00000000',
  }))
}

const BITFINEX: readonly BookName[] = [
  ['tBTCUSD', 'BTC', 'USD'],
  ['tLTCUSD', 'LTC', 'USD'],
  ['tDOGE:USD', 'DOGE', 'USD'],
  ['tETHUSD', 'ETH', 'USD'],
  ['tPOLUSD', 'POL', 'USD'],
  ['tTRXUSD', 'TRX', 'USD'],
  ['tSOLUSD', 'SOL', 'USD'],
  ['tUSTUSD', 'USDT', 'USD'],
  ['tUDCUSD', 'USDC', 'USD'],
]

/** Bitfinex `tickers`: lists of bare numbers, written here as text to control their digits. */
export function bitfinexText(scene: Scene): string {
  const symbols = new Set((scene.request.searchParams.get('symbols') ?? '').split(','))
  const names = BITFINEX.filter(([id]) => symbols.has(id))
  const rows = recordsOf(scene, names, { bps: 4, half: 2 }).map(({ id, bid, ask, last }) => {
    const [low, high, trade] = [bid, ask, last].map(bareNumber)
    return `["${id}",${low},12.3,${high},9.1,-310,-0.0043,${trade},812.4,${high},${high}]`
  })
  return `[${rows.join(',')}]`
}

/** Numbers without quotes, and null for anything else. */
function bareNumber(text: string | null): string {
  if (text === null || text === 'nan' || text === '') return 'null'
  return /^-?[\d.]+(?:e[+-]?\d+)?$/.test(text) ? text : JSON.stringify(text)
}
