import { describe, expect, it } from 'vitest'
import { type RateSource, SourceFault } from '#services/rates/rate-source.ts'
import { formatDecimal } from '#shared/domain/money/money.ts'
import { isQuote } from '#shared/domain/rates/quote.ts'
import { binance } from './binance.ts'
import { bitfinex } from './bitfinex.ts'
import { bitstamp } from './bitstamp.ts'
import { coinbase } from './coinbase.ts'
import { kraken } from './kraken.ts'
import { okx } from './okx.ts'

const RECEIVED_AT = 1_800_000_000_000

/** Pairs of an answer as `BTC/USD 71250.05`, in its order. */
function read(source: RateSource, body: string): readonly string[] {
  return source
    .parse(body, RECEIVED_AT)
    .readings.flatMap((reading) =>
      isQuote(reading) ? [`${reading.base}/${reading.quote} ${formatDecimal(reading.price)}`] : [],
    )
}

/** Pairs of an answer that have no price, as `BTC/USD no_price`. */
function droppedIn(source: RateSource, body: string): readonly string[] {
  return source
    .parse(body, RECEIVED_AT)
    .readings.flatMap((reading) => (isQuote(reading) ? [] : [`${reading.base}/${reading.quote} ${reading.because}`]))
}

function faultOf(source: RateSource, body: string): string {
  try {
    source.parse(body, RECEIVED_AT)
    return 'none'
  } catch (error) {
    return error instanceof SourceFault ? error.reason : 'crash'
  }
}

describe('kraken', () => {
  const row = (bid: string, ask: string) =>
    `{"a":["${ask}","1","1.000"],"b":["${bid}","1","1.000"],"c":["30303.20000","0.00067643"],"v":["4083.67","4412.73"],"p":["1","1"],"t":[34619,38907],"l":["1","1"],"h":["1","1"],"o":"1"}`

  it('reads the keys it answers with, old and new, and the euro', () => {
    const body = `{"error":[],"result":{"XXBTZUSD":${row('30300.00000', '30300.10000')},"USDTZUSD":${row('0.99960', '0.99980')},"DOGE/USD":${row('0.1', '0.1')},"ZEURZUSD":${row('1.138', '1.138')},"XETHXXBT":${row('1', '1')}}}`
    expect(read(kraken, body)).toEqual(['BTC/USD 30300.05', 'USDT/USD 0.9997', 'DOGE/USD 0.1', 'EUR/USD 1.138'])
  })

  it('drops a crossed, wide, zero or malformed pair and keeps the others', () => {
    const body = `{"error":["WGeneral:Something"],"result":{"XXBTZUSD":${row('30400', '30300')},"XETHZUSD":${row('90', '110')},"XLTCZUSD":${row('0', '1')},"SOLUSD":{"a":null},"POLUSD":${row('nan', '1')},"TRXUSD":${row('0.305', '0.305')}}}`
    expect(read(kraken, body)).toEqual(['TRX/USD 0.305'])
  })

  it('knows an error inside a 200 from a pair that it does not know', () => {
    expect(faultOf(kraken, '{"error":["EService:Unavailable"]}')).toBe('refused')
    expect(kraken.refusesPair?.('{"error":["EService:Unavailable"]}')).toBe(false)
    expect(kraken.refusesPair?.('{"error":["EQuery:Unknown asset pair"]}')).toBe(true)
    expect(kraken.path(['XBTUSD', 'ETHUSD'])).toBe('/0/public/Ticker?pair=XBTUSD,ETHUSD')
  })
})

describe('coinbase', () => {
  const product = (id: string, price: string, extra = '') =>
    `{"product_id":"${id}","price":"${price}","volume_24h":"87329.9","status":"online","is_disabled":false,"trading_disabled":false,"mid_market_price":"","alias_to":[]${extra}}`

  it('reads last trades of the products that trade', () => {
    const halted = product('SOL-USD', '88').replace('"trading_disabled":false', '"trading_disabled":true')
    const gone = product('LTC-USD', '56').replace('online', 'delisted')
    const body = `{"products":[${product('ETH-USD', '4471.59')},${halted},${gone},${product('BTC-USD', '')},${product('ABC-USD', '1')}],"num_products":5}`
    expect(read(coinbase, body)).toEqual(['ETH/USD 4471.59'])
    expect(coinbase.path(['BTC-USD', 'ETH-USD'])).toBe(
      '/api/v3/brokerage/market/products?product_ids=BTC-USD&product_ids=ETH-USD',
    )
  })

  // Money: the last trade of a product that nobody can trade is the price of an earlier time, and has no time to show it.
  it.each(['cancel_only', 'view_only', 'auction_mode'])('lets a product with %s have no vote', (flag) => {
    const body = (value: string) => `{"products":[${product('POL-USD', '0.1120', `,"${flag}":${value}`)}]}`
    expect(droppedIn(coinbase, body('true'))).toEqual(['POL/USD halted'])
    expect(read(coinbase, body('false'))).toEqual(['POL/USD 0.112'])
    expect(read(coinbase, body('null'))).toEqual(['POL/USD 0.112'])
  })

  it('refuses an error object', () => {
    expect(faultOf(coinbase, '{"error":"unauthorized","error_description":"x"}')).toBe('bad_body')
  })
})

describe('bitstamp', () => {
  const row = (pair: string, bid: string, ask: string, timestamp = '"1799999990"') =>
    `{"timestamp":${timestamp},"high":"26252","last":"26216","bid":"${bid}","vwap":"25681","volume":"3563.1","low":"25350","ask":"${ask}","open":"25730","pair":"${pair}"}`

  it('reads our pairs with the time of the answer, in seconds', () => {
    const body = `[${row('BTC/USD', '26208', '26211')},${row('BTC/EUR', '23000', '23000')},${row('XRP/USD', '1', '1')},${row('GBP/USD', '1.33', '1.33', '1799999990')}]`
    expect(read(bitstamp, body)).toEqual(['BTC/USD 26209.5', 'BTC/EUR 23000', 'GBP/USD 1.33'])
    expect(bitstamp.parse(body, RECEIVED_AT).readings[0]).toMatchObject({ sourceAt: 1_799_999_990_000 })
  })

  it('drops a pair without a readable time', () => {
    expect(droppedIn(bitstamp, `[${row('BTC/USD', '1', '1', '"soon"')}]`)).toEqual(['BTC/USD no_time'])
  })

  it('refuses its maintenance object', () => {
    expect(faultOf(bitstamp, '{"error":"Bitstamp.net is under scheduled maintenance."}')).toBe('bad_body')
  })
})

describe('okx', () => {
  const row = (id: string, bid: string, ask: string) =>
    `{"instType":"SPOT","instId":"${id}","last":"1","lastSz":"5","askPx":"${ask}","askSz":"3","bidPx":"${bid}","bidSz":"4","vol24h":"1","ts":"1799999999434"}`

  it('reads USDC and USDT books and the real, drops a halted one, and has no books in USD since 2026-09-30', () => {
    const body = `{"code":"0","msg":"","data":[${row('BTC-USDT', '71264', '71265')},${row('BTC-USDC', '71250', '71250')},${row('BTC-USD', '1', '1')},${row('USDT-BRL', '5.098', '5.099')},${row('ETH-USDT', '', '')},${row('BCD-BTC', '1', '1')}]}`
    expect(read(okx, body)).toEqual(['BTC/USDT 71264.5', 'BTC/USDC 71250', 'USDT/BRL 5.0985'])
    expect(droppedIn(okx, body)).toEqual(['ETH/USDT no_price'])
    expect(okx.parse(body, RECEIVED_AT).readings[0]).toMatchObject({ sourceAt: 1_799_999_999_434 })
  })

  it('refuses any code but 0', () => {
    expect(faultOf(okx, '{"code":"50001","msg":"Service temporarily unavailable","data":[]}')).toBe('refused')
  })
})

describe('binance', () => {
  it('reads padded books and drops a symbol that is halted', () => {
    const row = (symbol: string, bid: string, ask: string) =>
      `{"symbol":"${symbol}","bidPrice":"${bid}","bidQty":"431.00000000","askPrice":"${ask}","askQty":"9.00000000"}`
    const body = `[${row('BTCUSDT', '71274.90000000', '71282.10000000')},${row('USDTARS', '1531.40000000', '1531.70000000')},${row('ETHUSDT', '0.00000000', '0.00000000')}]`
    expect(read(binance, body)).toEqual(['BTC/USDT 71278.5', 'USDT/ARS:crypto 1531.55'])
  })

  it('asks with an encoded list and knows an unknown symbol from a ban', () => {
    expect(binance.path(['BTCUSDT'])).toBe('/api/v3/ticker/bookTicker?symbols=%5B%22BTCUSDT%22%5D&symbolStatus=TRADING')
    expect(binance.refusesPair?.('{"code":-1121,"msg":"Invalid symbol."}')).toBe(true)
    expect(binance.refusesPair?.('{"code":-1003,"msg":"Too many requests."}')).toBe(false)
    expect(faultOf(binance, '{"code":0,"msg":"Service unavailable from a restricted location"}')).toBe('refused')
  })
})

describe('bitfinex', () => {
  it('reads bare numbers digit by digit, whatever a double would make of them', () => {
    const body =
      '[["tBTCUSD",71278.100000000000001,12.3,71278.100000000000003,9.1,-310,-0.0043,71286,812.4,72100,70400],["tDOGE:USD",9.85e-2,1,9.85e-2,1,0,0,0,0,0,0],["tUSTUSD",null,1,1,1,0,0,0,0,0,0]]'
    expect(read(bitfinex, body)).toEqual(['BTC/USD 71278.100000000000002', 'DOGE/USD 0.0985'])
  })

  it('refuses its error list', () => {
    expect(faultOf(bitfinex, '["error",20060,"maintenance"]')).toBe('refused')
  })
})

describe('what a source lists', () => {
  it('is read from Kraken by the names to request, and only what trades freely', () => {
    const body =
      '{"error":[],"result":{"XXBTZUSD":{"altname":"XBTUSD","wsname":"XBT/USD","status":"online"},"POLUSD":{"altname":"POLUSD","status":"cancel_only"}}}'
    expect(kraken.listing?.parse(body)).toEqual(new Set(['XBTUSD']))
  })

  it('is read from Binance by its symbols', () => {
    const body = '[{"symbol":"BTCUSDT","price":"71278.50000000"},{"symbol":"LTCBTC","price":"0.00080000"}]'
    expect(binance.listing?.parse(body)).toEqual(new Set(['BTCUSDT', 'LTCBTC']))
  })
})

describe('every source', () => {
  const html = '<html><body>Scheduled maintenance</body></html>'

  it.each([kraken, coinbase, bitstamp, okx, binance, bitfinex])(
    '$name: HTML, an empty and a cut body are faults',
    (source) => {
      expect(faultOf(source, html)).toBe('bad_body')
      expect(faultOf(source, '')).toBe('bad_body')
      expect(faultOf(source, '[{"pair":"BTC/USD","bid":"1')).toBe('bad_body')
      expect(faultOf(source, '[NaN]')).toBe('bad_body')
    },
  )
})
