import { describe, expect, it } from 'vitest'
import { type RateSource, SourceFault } from '#services/rates/rate-source.ts'
import { formatDecimal } from '#shared/domain/money/money.ts'
import { isQuote } from '#shared/domain/rates/quote.ts'
import { bitso } from './bitso.ts'
import { coinbaseFx } from './coinbase-fx.ts'
import { dolarApi } from './dolar-api.ts'
import { openErApi } from './open-er-api.ts'
import { yadio } from './yadio.ts'

const RECEIVED_AT = 1_800_000_000_000

function read(source: RateSource, body: string): readonly string[] {
  return source
    .parse(body, RECEIVED_AT)
    .readings.flatMap((reading) =>
      isQuote(reading) ? [`${reading.base}/${reading.quote} ${formatDecimal(reading.price)}`] : [],
    )
}

describe('coinbase-fx', () => {
  it('reads our currencies as strings, leaves dead and crypto codes out, and takes ARS as the official price', () => {
    const body =
      '{"data":{"currency":"USD","rates":{"ARS":"1490","CLP":"665","EUR":"0.8787346221441125","PEN":"0","BTC":"0.00025"}}}'
    expect(read(coinbaseFx, body)).toEqual(['USD/EUR 0.8787346221441125', 'USD/CLP 665', 'USD/ARS:official 1490'])
  })

  it('refuses a table of another base', () => {
    expect(() => coinbaseFx.parse('{"data":{"currency":"EUR","rates":{}}}', RECEIVED_AT)).toThrow(SourceFault)
  })
})

describe('yadio', () => {
  it('reads bare numbers and takes ARS as the crypto price', () => {
    const body = '{"USD":{"ARS":1532,"DOP":61.5,"MXN":null},"BTC":71250.1,"base":"USD","timestamp":1799999940000}'
    expect(read(yadio, body)).toEqual(['USD/DOP 61.5', 'USD/ARS:crypto 1532'])
    expect(yadio.parse(body, RECEIVED_AT)).toMatchObject({
      readings: [{ because: 'no_price' }, { sourceAt: 1_799_999_940_000 }, { sourceAt: 1_799_999_940_000 }],
      pulse: { text: '71250.1' },
    })
  })

  it('refuses a table of another base, and one without a time', () => {
    expect(() => yadio.parse('{"USD":{"ARS":1},"base":"BTC","timestamp":1799999940000}', RECEIVED_AT)).toThrow(
      SourceFault,
    )
    expect(() => yadio.parse('{"USD":{"ARS":1},"base":"USD"}', RECEIVED_AT)).toThrow(SourceFault)
  })
})

describe('open-er-api', () => {
  const body =
    '{"result":"success","provider":"x","time_last_update_unix":1799971351,"time_next_update_unix":1800057751,"time_eol_unix":0,"base_code":"USD","rates":{"USD":1,"ARS":1490,"DOP":61.5,"EUR":8.787e-1}}'

  it('reads the daily table with its own time', () => {
    expect(read(openErApi, body)).toEqual(['USD/EUR 0.8787', 'USD/DOP 61.5', 'USD/ARS:official 1490'])
    expect(openErApi.parse(body, RECEIVED_AT).readings[0]).toMatchObject({ sourceAt: 1_799_971_351_000 })
  })

  it('reads on when the end of the service is announced, for as long as its table is of today', () => {
    expect(read(openErApi, body.replace('"time_eol_unix":0', '"time_eol_unix":1800500000'))).toHaveLength(3)
  })

  it('refuses an error inside a 200', () => {
    expect(() => openErApi.parse('{"result":"error","error-type":"quota-reached"}', RECEIVED_AT)).toThrow(SourceFault)
  })
})

describe('bitso', () => {
  it('reads the peso books with their time and drops one whose time has no zone', () => {
    const row = (book: string, bid: string, ask: string, at: string) =>
      `{"book":"${book}","last":"1","bid":"${bid}","ask":"${ask}","volume":"7.29","created_at":"${at}"}`
    const body = `{"success":true,"payload":[${row('usd_mxn', '17.41', '17.43', '2027-01-15T07:59:59+00:00')},${row('usdt_cop', '3243', '3245', '2027-01-15T07:59:59')},${row('btc_usdt', '1', '1', '2027-01-15T07:59:59Z')}]}`
    expect(read(bitso, body)).toEqual(['USD/MXN 17.42'])
    expect(read(bitso, body.replace('"success":true', '"success":"true"'))).toEqual(['USD/MXN 17.42'])
    expect(bitso.parse(body, RECEIVED_AT).readings[0]).toMatchObject({ sourceAt: Date.UTC(2027, 0, 15, 7, 59, 59) })
  })

  it('refuses its error object', () => {
    const body = '{"success":false,"error":{"code":"0304","message":"x"}}'
    expect(() => bitso.parse(body, RECEIVED_AT)).toThrow(SourceFault)
  })
})

describe('dolar-api', () => {
  const row = (casa: string, bid: number, ask: number) =>
    `{"moneda":"USD","casa":"${casa}","nombre":"x","compra":${bid},"venta":${ask},"fechaActualizacion":"2027-01-15T07:55:00.000Z"}`

  it('reads the wholesale and the crypto dollar and no other kind', () => {
    const body = `[${row('oficial', 1445, 1495)},${row('mayorista', 1472, 1481)},${row('cripto', 1511.6, 1511.7)},${row('tarjeta', 1943, 1943)}]`
    expect(read(dolarApi, body)).toEqual(['USD/ARS:official 1476.5', 'USD/ARS:crypto 1511.65'])
    expect(dolarApi.parse(body, RECEIVED_AT).pulse?.text).toBe('1511.6 1511.7')
  })

  // Money: its two prices of the state's dollar are copied from two sites, and one of those stood still for weeks.
  it('has no wholesale price when the retail one contradicts it, is not there, or one side is 1', () => {
    const read = (...rows: readonly string[]) => dolarApi.parse(`[${rows.join(',')}]`, RECEIVED_AT).readings
    expect(read(row('oficial', 1000, 1040), row('mayorista', 962.57, 964))).toMatchObject([{ because: 'contradicted' }])
    expect(read(row('mayorista', 1472, 1481))).toMatchObject([{ because: 'contradicted' }])
    expect(read(row('oficial', 962, 1002), row('mayorista', 962.57, 1))).toMatchObject([{ because: 'contradicted' }])
  })
})
